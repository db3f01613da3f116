package stack

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// Side is one more process of a service, told other settings than those of the
// system. Nobody starts it again but its owner.
type Side struct {
	URL  string // its public face
	GRPC string // its inner face, of an api

	path  string
	env   map[string]string
	log   string
	child *localdb.Child
}

var sides atomic.Int64

// Side starts a further process of a service with some settings changed, and waits
// until it is ready.
func (s *Stack) Side(ctx context.Context, service string, changed map[string]string) (*Side, error) {
	d, err := s.Prepare(service, changed)
	if err != nil {
		return nil, err
	}
	return d, d.Start(ctx)
}

// Prepare is Side without the start.
func (s *Stack) Prepare(service string, changed map[string]string) (*Side, error) {
	env, err := Environment(s.PID(service))
	if err != nil {
		return nil, err
	}
	d := &Side{path: filepath.Join(s.opts.Bin, service), env: env}
	d.log = filepath.Join(s.opts.Dir, "logs", fmt.Sprintf("side-%s-%d.log", service, sides.Add(1)))
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	d.URL = "http://" + addr
	env["HTTP_ADDR"], env["METRICS_ADDR"] = addr, ""
	if _, inner := env["GRPC_ADDR"]; inner {
		if d.GRPC, err = FreeAddr(); err != nil {
			return nil, err
		}
		env["GRPC_ADDR"] = d.GRPC
	}
	maps.Copy(env, changed)
	return d, nil
}

// Start runs the process, again after a Kill, and waits until it is ready.
func (d *Side) Start(ctx context.Context) error {
	if err := d.Launch(); err != nil {
		return err
	}
	if err := ready(ctx, d.URL); err != nil {
		d.Stop()
		return fmt.Errorf("%w\n%s", err, tail(d.log))
	}
	return nil
}

// Launch is Start without the waiting.
func (d *Side) Launch() error {
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(d.path)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{}
	for name, value := range d.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	d.child, err = localdb.StartChild(cmd, syscall.SIGKILL)
	return err
}

// Kill ends the process without warning.
func (d *Side) Kill() {
	if d.child == nil {
		return // it never ran
	}
	_ = d.child.Signal(syscall.SIGKILL)
	<-d.child.Done()
}

// End asks the process to end, and gives what is closed when it has.
func (d *Side) End() <-chan struct{} {
	_ = d.child.Signal(syscall.SIGTERM) // one that has ended has ended
	return d.child.Done()
}

// Ended tells whether the process runs no more.
func (d *Side) Ended() bool {
	select {
	case <-d.child.Done():
		return true
	default:
		return false
	}
}

// Err tells how the process ended; nil: as it was asked to.
func (d *Side) Err() error { return d.child.Err() }

// Tail is the end of what the process wrote.
func (d *Side) Tail() string { return tail(d.log) }

// Log is the file that the process writes to.
func (d *Side) Log() string { return d.log }

// PID is the process.
func (d *Side) PID() int { return d.child.PID() }

// Stop ends the process in order.
func (d *Side) Stop() {
	if d.child != nil {
		d.child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	}
}

// FreeAddr is a loopback address that nobody listens on now.
func FreeAddr() (string, error) {
	port, err := localdb.FreePort()
	return "127.0.0.1:" + strconv.Itoa(port), err
}
