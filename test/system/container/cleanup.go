package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const groupsRoot = "/sys/fs/cgroup"

// removeGroups removes the cgroups of the engine. It returns an error that lists the processes, mounts and cgroups of the engine
// that remain.
func (e *Engine) removeGroups() error {
	var found []error
	groups, err := e.groups()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(groups) { // children first
		if err := removeGroup(dir); err != nil {
			found = append(found, fmt.Errorf("a cgroup could not be removed: %w", err))
		}
	}
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		return err
	}
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == e.namespace {
			found = append(found, fmt.Errorf("a process of the engine still runs: %s", link))
		}
	}
	// /proc/self is the main thread, which a test may have moved into the namespace of a container. /proc/thread-self
	// is this thread.
	mounts, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, e.dir+"/") {
			found = append(found, fmt.Errorf("a mount of the engine remains: %s", strings.TrimSpace(line)))
		}
	}
	return errors.Join(found...)
}

// groups returns the directories of the engine's cgroups, parents before children. With cgroup v1, each controller has a separate
// directory tree; with cgroup v2, there is one tree.
func (e *Engine) groups() (dirs []string, err error) {
	tops, err := filepath.Glob(filepath.Join(groupsRoot, "*", e.group))
	if err != nil {
		return nil, err
	}
	for _, top := range append(tops, filepath.Join(groupsRoot, e.group)) {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // removed in the meantime, or never created
			case err == nil && d.IsDir():
				dirs = append(dirs, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

// removeGroup removes a cgroup. It retries for up to 5 s while the cgroup is busy, because an ended process stays in it for a
// short time. A missing cgroup is not an error.
func removeGroup(dir string) error {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(end) {
			return err
		}
	}
}
