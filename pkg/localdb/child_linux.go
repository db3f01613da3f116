package localdb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

func startChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	cmd.SysProcAttr.Pdeathsig = death
	c := &Child{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the death signal when the thread that started the child ends. This goroutine therefore
		// stays on its thread until the child has ended.
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		c.pid = cmd.Process.Pid
		started <- nil
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// Family returns pid and the ids of all its descendants, pid first.
func Family(pid int) []int {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return []int{pid}
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		fields := statFields(child)
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	family := []int{pid}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family
}

// startTime returns the start time of a process in clock ticks since the boot of the system, or "" if there is no such
// process. It distinguishes processes with the same id, because the kernel reuses ids.
func startTime(pid int) string {
	fields := statFields(pid)
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19])
}

// statFields returns the fields of /proc/PID/stat after the command name, which may contain spaces.
func statFields(pid int) [][]byte {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, ok := bytes.Cut(raw[max(0, bytes.LastIndexByte(raw, ')')):], []byte(")"))
	if !ok {
		return nil
	}
	return bytes.Fields(rest)
}

// namespaceIdentity returns an identity for a process in a new user namespace. Outside the namespace the process runs as root, so
// it can use directories that only root may enter. Inside the namespace it runs as an unprivileged user, because Postgres refuses
// to run as root. Postgres also requires an entry for its user in /etc/passwd, so the user is the usual unprivileged user of the
// system, or id 65534 if there is none.
func namespaceIdentity() (identity, bool) {
	uid, gid := 65534, 65534
	if id, ok := userIdentity("nobody"); ok {
		uid, gid = id.uid, id.gid
	}
	return identity{name: "a user namespace", uid: 0, gid: 0, apply: func(a *syscall.SysProcAttr) {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: 0, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: 0, Size: 1}}
	}}, true
}
