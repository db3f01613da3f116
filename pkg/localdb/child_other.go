//go:build !linux

package localdb

import (
	"os/exec"
	"syscall"
)

// startChild starts cmd with a guard process, because only Linux can signal a child when its parent dies.
func startChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	c, _, err := startGuarded(cmd, death)
	return c, err
}

// Family returns only pid, because there is no /proc to find descendants.
func Family(pid int) []int { return []int{pid} }

func startTime(int) string { return "" }

// namespaceIdentity returns false, because only Linux has user namespaces.
func namespaceIdentity() (identity, bool) { return identity{}, false }
