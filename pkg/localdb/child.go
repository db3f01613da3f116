package localdb

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Child is a child process in its own process group. It ends when this process ends.
type Child struct {
	pid  int
	done chan struct{}
	err  error
}

// StartChild starts cmd in its own process group. When this process ends, even by SIGKILL, the child receives the signal in the
// parameter death.
func StartChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	return startChild(cmd, death)
}

// PID returns the process id of the child.
func (c *Child) PID() int { return c.pid }

// Done returns a channel that is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns the error with which the child ended. It must be called after Done is closed.
func (c *Child) Err() error { return c.err }

// Signal sends a signal to the child. It returns nil if the child has ended.
func (c *Child) Signal(sig syscall.Signal) error {
	select {
	case <-c.done:
		return nil
	default:
	}
	err := syscall.Kill(c.pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// Stop sends sig to the child and resumes it if it is suspended. If the child has not ended when the duration grace has passed or
// ctx ends, Stop kills it and its descendants.
func (c *Child) Stop(ctx context.Context, sig syscall.Signal, grace time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	_ = c.Signal(sig)
	c.signalFamily(syscall.SIGCONT) // a stopped process handles no other signal
	select {
	case <-c.done:
		return
	case <-ctx.Done():
	}
	c.signalFamily(syscall.SIGKILL)
	<-c.done
}

// signalFamily sends a signal to the child and its descendants.
func (c *Child) signalFamily(sig syscall.Signal) {
	for _, pid := range Family(c.pid) {
		_ = syscall.Kill(pid, sig)
	}
}

// alive reports whether a process with this id exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, os.ErrPermission)
}

// KillFamily kills a process and its descendants. It first suspends the process, so that the process cannot start another
// child. A surviving child of Postgres would prevent the next server from starting. KillFamily returns an error if the
// process does not exist.
func KillFamily(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, child := range Family(pid)[1:] {
		_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended by itself
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
