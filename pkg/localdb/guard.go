package localdb

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// guardScript runs a command in the background, reports its process id on
// descriptor 3 and signals it when descriptor 0 comes to its end, which happens
// when the process that holds the other end of the pipe is gone.
const guardScript = `exec 5<&0 </dev/null
sig=$1; shift
"$@" 3>&- 5<&- &
p=$!
echo "$p" >&3; exec 3>&-
(read -r _ <&5; kill -s "$sig" "$p" 2>/dev/null) &
w=$!
exec 5<&-
wait "$p"; s=$?
while kill -0 "$p" 2>/dev/null; do wait "$p"; s=$?; done
kill "$w" 2>/dev/null
exit "$s"`

// startGuarded starts cmd under a shell that ends it when this process ends.
func startGuarded(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	name := map[syscall.Signal]string{
		syscall.SIGINT: "INT", syscall.SIGTERM: "TERM", syscall.SIGQUIT: "QUIT", syscall.SIGKILL: "KILL",
	}[death]
	if name == "" {
		return nil, fmt.Errorf("start %s: no name for signal %d", cmd.Path, death)
	}
	pidRead, pidWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = pidRead.Close() }()
	shell := exec.Command("/bin/sh", append([]string{"-c", guardScript, "guard", name, cmd.Path}, cmd.Args[1:]...)...)
	shell.Dir, shell.Env, shell.SysProcAttr = cmd.Dir, cmd.Env, cmd.SysProcAttr
	shell.Stdout, shell.Stderr = cmd.Stdout, cmd.Stderr
	shell.ExtraFiles = []*os.File{pidWrite}
	hold, err := shell.StdinPipe()
	if err != nil {
		_ = pidWrite.Close()
		return nil, err
	}
	if err := shell.Start(); err != nil {
		_ = pidWrite.Close()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	_ = pidWrite.Close()
	line, err := bufio.NewReader(pidRead).ReadString('\n')
	if err != nil {
		_ = shell.Process.Kill()
		_ = shell.Wait()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return waitGuarded(shell, hold, pid), nil
}

func waitGuarded(shell *exec.Cmd, hold io.Closer, pid int) *Child {
	c := &Child{pid: pid, done: make(chan struct{}), hold: hold}
	go func() {
		defer close(c.done)
		c.err = shell.Wait()
		_ = hold.Close()
	}()
	return c
}
