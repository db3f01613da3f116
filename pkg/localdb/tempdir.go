package localdb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	tempPrefix   = "signalcast-db-"
	ownerFile    = "owner"
	roomNeeded   = 512 << 20
	tmpfsMagic   = 0x01021994
	memoryBacked = "/dev/shm"
)

// tempDir creates a directory that records this process as its owner, and removes directories whose owner has ended.
func tempDir(durable bool) (string, error) {
	base := tempBase(durable)
	sweep(base)
	dir, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return "", err
	}
	// The database's own user has to pass through.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", err
	}
	me := fmt.Sprintf("%d %s\n", os.Getpid(), startTime(os.Getpid()))
	return dir, os.WriteFile(filepath.Join(dir, ownerFile), []byte(me), 0o600)
}

// tempBase is memory for test servers when there is room, disk for durable ones.
func tempBase(durable bool) string {
	var st syscall.Statfs_t
	if !durable {
		if syscall.Statfs(memoryBacked, &st) == nil && uint64(st.Bavail)*uint64(st.Bsize) >= roomNeeded && writable(memoryBacked) {
			return memoryBacked
		}
		return os.TempDir()
	}
	if inMemory(os.TempDir()) {
		return "/var/tmp"
	}
	return os.TempDir()
}

// inMemory reports whether dir lives in memory rather than on a disk.
func inMemory(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && int64(st.Type) == tmpfsMagic
}

func writable(dir string) bool {
	f, err := os.CreateTemp(dir, tempPrefix+"try-")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}

// sweep removes temporary directories of this user whose owner has ended.
func sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, ownerFile))
		if err != nil || !ownedByUs(dir) {
			continue
		}
		pid, born, _ := strings.Cut(string(bytes.TrimSpace(raw)), " ")
		n, err := strconv.Atoi(pid)
		if err != nil || (alive(n) && startTime(n) == born) {
			continue
		}
		_ = os.RemoveAll(dir)
	}
}

func ownedByUs(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

// lastLine is the end of a program's output, for one-line error messages.
func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
