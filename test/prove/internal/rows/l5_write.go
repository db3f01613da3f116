package rows

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// writablePlaces tries to write everywhere below a root but at some places. Links are not
// followed: where they lead is tried by itself. Devices may be open to everybody; they
// keep nothing.
func writablePlaces(root string, but []string) (tried int, places []string, err error) {
	err = filepath.WalkDir(root+"/", func(path string, d fs.DirEntry, err error) error {
		inside := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		switch {
		case slices.Contains(but, inside):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case os.IsPermission(err), os.IsNotExist(err):
			return nil // it cannot be listed, or is gone again
		case err != nil:
			return err
		case d.Type() == fs.ModeSymlink:
			return nil
		}
		tried++
		can, err := writable(path, d.IsDir())
		if can {
			places = append(places, inside)
		}
		return err
	})
	return tried, places, err
}

// writable tries one place, and leaves it as it was.
func writable(path string, isDir bool) (bool, error) {
	flags := os.O_WRONLY | syscall.O_NONBLOCK // a pipe that nobody reads would keep us waiting
	if isDir {
		path, flags = filepath.Join(path, "written-by-a-row"), os.O_WRONLY|os.O_CREATE|os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return false, nil // as it should be
	}
	info, err := f.Stat()
	if err := f.Close(); err != nil {
		return true, err
	}
	if isDir {
		return true, os.Remove(path)
	}
	return err != nil || info.Mode()&fs.ModeDevice == 0, err
}

// within does something among the mounts of a process, as its user, in a thread that is
// given up with what it has become. The rights of the administrator end with the user.
func within(pid, uid, gid int, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else may have this thread
		err := enter(pid, uid, gid)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

func enter(pid, uid, gid int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }()
	if err := unix.Unshare(unix.CLONE_FS); err != nil { // else mounts are those of the whole process
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	for _, call := range [][4]uintptr{
		{unix.SYS_SETGROUPS},
		{unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)},
		{unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)},
	} {
		if _, _, e := unix.RawSyscall(call[0], call[1], call[2], call[3]); e != 0 {
			return fmt.Errorf("become %d:%d: %w", uid, gid, e)
		}
	}
	return nil
}

// mounts are the places of a process where something else than its root is mounted.
func mounts(pid int) (places []string, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			return nil, fmt.Errorf("process %d has the mount %q", pid, line)
		}
		if fields[4] != "/" {
			places = append(places, fields[4])
		}
	}
	return places, nil
}
