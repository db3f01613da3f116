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
	minFreeSpace = 512 << 20
	tmpfsMagic   = 0x01021994
	memoryBacked = "/dev/shm"
)

// tempDir creates a temporary directory and records this process as its owner. It first removes directories whose
// owner has ended.
func tempDir(durable bool) (string, error) {
	base := tempBase(durable)
	removeOrphans(base)
	dir, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return "", err
	}
	// The user that runs the database must be able to enter the directory.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", err
	}
	owner := fmt.Sprintf("%d %s\n", os.Getpid(), startTime(os.Getpid()))
	return dir, os.WriteFile(filepath.Join(dir, ownerFile), []byte(owner), 0o600)
}

// tempBase returns the parent of temporary directories. For test servers it is in memory if there is enough space.
// For durable servers it is on disk.
func tempBase(durable bool) string {
	var st syscall.Statfs_t
	if !durable {
		if syscall.Statfs(memoryBacked, &st) == nil && uint64(st.Bavail)*uint64(st.Bsize) >= minFreeSpace && writable(memoryBacked) {
			return memoryBacked
		}
		return os.TempDir()
	}
	if inMemory(os.TempDir()) {
		return "/var/tmp"
	}
	return os.TempDir()
}

// inMemory reports whether dir is on a tmpfs, which stores files in memory.
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

// removeOrphans removes temporary directories of this user whose owner process has ended.
func removeOrphans(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, ownerFile))
		if err != nil || !ownedByCurrentUser(dir) {
			continue
		}
		pid, started, _ := strings.Cut(string(bytes.TrimSpace(raw)), " ")
		n, err := strconv.Atoi(pid)
		if err != nil || (alive(n) && startTime(n) == started) {
			continue
		}
		_ = os.RemoveAll(dir)
	}
}

func ownedByCurrentUser(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

// lastLine returns the last line of the output of a program, for error messages.
func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
