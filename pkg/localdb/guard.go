package localdb

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// startGuarded starts cmd and a shell. When this process ends, the shell sends the signal in the parameter death to cmd. For
// this, the shell waits for the end of its standard input, a pipe from this process. Closing the result hold has the same effect
// as the end of this process.
func startGuarded(cmd *exec.Cmd, death syscall.Signal) (c *Child, hold io.Closer, err error) {
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	c = &Child{pid: cmd.Process.Pid, done: make(chan struct{})}
	guard := exec.Command("/bin/sh", "-c", `read -r _; kill "-$1" "$2"`, "guard", strconv.Itoa(int(death)), strconv.Itoa(c.pid))
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if hold, err = guard.StdinPipe(); err == nil {
		err = guard.Start()
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, nil, fmt.Errorf("start the guard of %s: %w", cmd.Path, err)
	}
	go func() {
		defer close(c.done)
		c.err = cmd.Wait()
		_ = guard.Process.Kill() // the system may give the id of the child to another process
		_ = guard.Wait()
	}()
	return c, hold, nil
}
