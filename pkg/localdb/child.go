package localdb

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Child is a process in its own process group that ends when this process ends.
type Child struct {
	pid  int
	done chan struct{}
	err  error
}

// StartChild starts cmd in its own process group. When this process dies, even
// by SIGKILL, the child gets the signal death.
func StartChild(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	return startChild(cmd, death)
}

// PID is the process id of the child.
func (c *Child) PID() int { return c.pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns how the child ended. It may be called once Done is closed.
func (c *Child) Err() error { return c.err }

// Signal sends a signal to the child. It is no error if the child has ended.
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

// Stop wakes the child, sends sig, and kills it when it has not ended by the
// end of ctx or of grace, whichever is first.
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

// signalFamily sends a signal to the child and to what it started.
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

// KillFamily kills a process and its descendants. The process is stopped first, so that it cannot start another child meanwhile:
// a child of Postgres that survives keeps the next server from starting.
func KillFamily(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, child := range Family(pid)[1:] {
		_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended by itself
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
