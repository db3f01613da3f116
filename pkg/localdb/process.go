package localdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Process is a program that can be started repeatedly and writes to a log file. It is safe for concurrent use.
type Process struct {
	log string

	mu    sync.Mutex
	child *Child // nil before the first start
}

// NewProcess returns a process that appends its output to the file log.
func NewProcess(log string) *Process { return &Process{log: log} }

// Start starts cmd like StartChild and appends its output to the log file. The other methods then refer to this
// child.
func (p *Process) Start(cmd *exec.Cmd, death syscall.Signal) (*Child, error) {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	child, err := StartChild(cmd, death)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.child = child
	return child, nil
}

// current returns the child of the last Start, or nil before the first one.
func (p *Process) current() *Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child
}

// startReady starts cmd and returns when the function probe returns nil. It stops the process and returns an error if probe
// returns errPortTaken, if probe does not succeed within limit, if the process ends, or when ctx ends.
func (p *Process) startReady(ctx context.Context, cmd *exec.Cmd, death syscall.Signal, limit time.Duration, probe func(context.Context) error) error {
	child, err := p.Start(cmd, death)
	if err != nil {
		return err
	}
	if err = p.ready(ctx, child, limit, probe); err != nil {
		child.Stop(context.WithoutCancel(ctx), syscall.SIGINT, 10*time.Second)
	}
	return err
}

func (p *Process) ready(ctx context.Context, child *Child, limit time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := probe(ctx)
		if err == nil || errors.Is(err, errPortTaken) {
			return err
		}
		select {
		case <-child.Done():
			return fmt.Errorf("the server ended during its start: %w\n%s", child.Err(), p.Tail(5))
		default:
		}
		if dbtime.Sleep(ctx, 5*time.Millisecond) != nil {
			return fmt.Errorf("the server does not accept connections: %w\n%s", err, p.Tail(5))
		}
	}
}

// PID returns the process id, or 0 if no process was started.
func (p *Process) PID() int {
	if c := p.current(); c != nil {
		return c.PID()
	}
	return 0
}

// Done returns a channel that is closed when the current process has ended, or nil if no process was started.
func (p *Process) Done() <-chan struct{} {
	if c := p.current(); c != nil {
		return c.Done()
	}
	return nil
}

// Err returns the error with which the current process ended. It must be called after Done is closed and before the
// next Start.
func (p *Process) Err() error { return p.current().Err() }

// Terminate sends sig to the current process. If the process has not ended when the duration grace has passed or ctx ends,
// Terminate kills it. It does nothing if no process was started.
func (p *Process) Terminate(ctx context.Context, sig syscall.Signal, grace time.Duration) {
	if c := p.current(); c != nil {
		c.Stop(ctx, sig, grace)
	}
}

// LogFile returns the path of the log file.
func (p *Process) LogFile() string { return p.log }

// Tail returns the end of the log file: at most the given number of lines. If the file cannot be read, it returns the
// text of the error.
func (p *Process) Tail(lines int) string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
