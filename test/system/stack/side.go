package stack

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// Side is an additional process of a service with changed settings. Unlike the first process, it is not restarted by the launcher
// when it ends.
type Side struct {
	URL  string // base URL of the public listener
	GRPC string // host:port of the gRPC listener; empty if the service has none

	path, log string
	env       map[string]string
	child     *localdb.Child
}

var sides atomic.Int64

// Side starts an additional process of hub, api or clock and waits until it is ready. changed contains the environment variables
// that differ; an empty value unsets a variable. The process ends with the test.
func (s *Stack) Side(t testing.TB, service string, changed map[string]string) *Side {
	t.Helper()
	d := s.PrepareSide(t, service, changed)
	d.Start(t)
	return d
}

// PrepareSide returns an additional process of hub, api or clock that is not started yet. changed contains the environment
// variables that differ; an empty value unsets a variable.
func (s *Stack) PrepareSide(t testing.TB, service string, changed map[string]string) *Side {
	t.Helper()
	env := s.Environment(t, service)
	d := &Side{path: filepath.Join(s.bin, service), env: env, log: s.Log(fmt.Sprintf("side-%s-%d", service, sides.Add(1)))}
	addr := FreeAddr(t)
	d.URL = "http://" + addr
	env["HTTP_ADDR"], env["METRICS_ADDR"], env["ORIGIN_LISTEN"] = addr, "", ""
	if env["GRPC_ADDR"] != "" {
		d.GRPC = FreeAddr(t)
		env["GRPC_ADDR"] = d.GRPC
	}
	maps.Copy(env, changed)
	return d
}

// Start starts the process and waits until it is ready. After Kill, it starts the process again.
func (d *Side) Start(t testing.TB) {
	t.Helper()
	d.Launch(t)
	require(t, "the process at "+d.URL+" to be ready", func() bool {
		select {
		case <-d.child.Done():
			t.Fatalf("the process %s ended before it was ready: %v\n%s", d.path, d.child.Err(), d.Tail())
		default:
		}
		return isReady(d.URL)
	})
}

// Launch starts the process and does not wait until it is ready. The process ends with the test.
func (d *Side) Launch(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(d.path)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, []string{}
	for name, value := range d.env {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if d.child, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
}

// Stop stops the process with SIGTERM, and with SIGKILL if it still runs after 5 s.
func (d *Side) Stop() { d.child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second) }

// Terminate sends SIGTERM and returns a channel that is closed when the process has ended.
func (d *Side) Terminate() <-chan struct{} {
	_ = d.child.Signal(syscall.SIGTERM) // the process may have ended
	return d.child.Done()
}

// Kill ends the process with SIGKILL and waits until it has ended.
func (d *Side) Kill() {
	_ = d.child.Signal(syscall.SIGKILL) // the process may have ended
	<-d.child.Done()
}

// Done returns a channel that is closed when the process has ended.
func (d *Side) Done() <-chan struct{} { return d.child.Done() }

// Err returns the error with which the process ended, or nil after exit status 0.
func (d *Side) Err() error { return d.child.Err() }

// PID returns the process ID.
func (d *Side) PID() int { return d.child.PID() }

// Log returns the path of the log file of the process.
func (d *Side) Log() string { return d.log }

// Tail returns the last 40 lines of the log of the process.
func (d *Side) Tail() string { return tail(d.log, 40) }

// RefusedStart starts an additional process of hub, api or clock with changed environment variables, where an empty value unsets
// a variable. It fails the test unless the process ends with an error. It returns the last lines of the process log.
func (s *Stack) RefusedStart(t testing.TB, service string, changed map[string]string) string {
	t.Helper()
	d := s.PrepareSide(t, service, changed)
	d.Launch(t)
	select {
	case <-d.Done():
	case <-time.After(readyWithin):
		t.Fatalf("an additional %s is running with invalid settings; want it to end with an error\n%s", service, d.Tail())
	}
	if d.Err() == nil {
		t.Fatalf("an additional %s with invalid settings ended with exit status 0; want an error", service)
	}
	return d.Tail()
}

// FreeAddr returns a loopback address (host:port) whose port is free at the time of the call.
func FreeAddr(t testing.TB) string {
	t.Helper()
	port, err := localdb.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + strconv.Itoa(port)
}

// Rerouted replaces addresses in the environment variables of a service. It returns the variables whose values have changed.
// addresses maps old addresses to new ones.
func (s *Stack) Rerouted(t testing.TB, service string, addresses map[string]string) map[string]string {
	t.Helper()
	settings := s.Environment(t, service)
	changed := map[string]string{}
	for name, value := range settings {
		other := value
		for from, to := range addresses {
			// \b prevents a match of a port number that only begins with the digits of this port.
			other = regexp.MustCompile(regexp.QuoteMeta(from)+`\b`).ReplaceAllLiteralString(other, to)
		}
		if other != value {
			changed[name] = other
		}
	}
	return changed
}

// Settings returns the environment variables of the named running process.
func (s *Stack) Settings(t testing.TB, name string) map[string]string {
	t.Helper()
	env := s.Environment(t, name)
	return env
}
