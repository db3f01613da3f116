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

// leave removes the groups of processes, which nobody else does, and finds processes and
// mounts that ought to have gone with the engine.
func (e *Engine) leave() error {
	var found []error
	groups, err := e.groups()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(groups) { // what is inside comes first
		if err := removeGroup(dir); err != nil {
			found = append(found, fmt.Errorf("left behind: %w", err))
		}
	}
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		return err
	}
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == e.namespace {
			found = append(found, fmt.Errorf("left behind: the process of %s", link))
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, e.dir+"/") {
			found = append(found, fmt.Errorf("left behind: the mount %s", strings.TrimSpace(line)))
		}
	}
	return errors.Join(found...)
}

// groups lists the folders of our groups under every controller, or under the one tree of
// newer kernels, an outer one before those in it.
func (e *Engine) groups() (dirs []string, err error) {
	tops, err := filepath.Glob(filepath.Join(groupsRoot, "*", e.group))
	if err != nil {
		return nil, err
	}
	for _, top := range append(tops, filepath.Join(groupsRoot, e.group)) {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // it was given up meanwhile, or never there
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

// removeGroup waits for the kernel, which forgets processes a little after they ended.
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
