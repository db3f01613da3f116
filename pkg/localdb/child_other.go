//go:build !linux

package localdb

import (
	"os/exec"
	"syscall"
)

// Only Linux can tie a child's life to its parent's; elsewhere a shell stands
// between the two and watches a pipe.
func startChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	return startGuarded(cmd, death)
}

// Family is pid alone where there is no /proc to read.
func Family(pid int) []int { return []int{pid} }

func startTime(int) string { return "" }
