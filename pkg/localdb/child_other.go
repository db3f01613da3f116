//go:build !linux

package localdb

import (
	"os/exec"
	"syscall"
)

// startChild starts cmd with a guard: only Linux can signal a child when its parent dies.
func startChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	c, _, err := startGuarded(cmd, death)
	return c, err
}

// Family is pid alone where there is no /proc to read.
func Family(pid int) []int { return []int{pid} }

func startTime(int) string { return "" }

// mapped needs user namespaces, which only Linux has.
func mapped() (identity, bool) { return identity{}, false }
