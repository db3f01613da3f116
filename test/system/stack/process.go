package stack

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const readyWithin = 30 * time.Second

// PID returns the process that runs under a name now: hub, hub-2, api, clock, venues, idp, postgres, redis.
func (s *Stack) PID(t testing.TB, name string) int {
	t.Helper()
	pid := s.pid(name)
	if pid == 0 {
		t.Fatalf("the system has no process %s", name)
	}
	return pid
}

func (s *Stack) pid(name string) int {
	var now Info
	if s.read(&now) != nil {
		return 0 // the file is being replaced
	}
	return now.PIDs[name]
}

// environmentOf returns the environment of a running process.
func environmentOf(pid int) (map[string]string, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for pair := range bytes.SplitSeq(raw, []byte{0}) {
		if name, value, ok := bytes.Cut(pair, []byte("=")); ok {
			env[string(name)] = string(value)
		}
	}
	return env, nil
}

// RefusedStart starts a further process of hub, api or clock with the settings of the system's own and some changed; an
// empty value unsets one. It requires that the process ends with an error, and returns its output.
func (s *Stack) RefusedStart(t testing.TB, service string, changed map[string]string) string {
	t.Helper()
	child, log := s.launchProcess(t, service, changed)
	select {
	case <-child.Done():
	case <-time.After(readyWithin):
		t.Fatalf("a further %s runs; want it to refuse its settings\n%s", service, tail(log, 10))
	}
	if child.Err() == nil {
		t.Fatalf("a further %s ended without an error; want it to refuse its settings", service)
	}
	return tail(log, 40)
}

func (s *Stack) launchProcess(t testing.TB, service string, changed map[string]string) (child *localdb.Child, log string) {
	t.Helper()
	env, err := environmentOf(s.PID(t, service))
	if err != nil {
		t.Fatal(err)
	}
	env["HTTP_ADDR"], env["METRICS_ADDR"], env["ORIGIN_LISTEN"] = freeAddr(t), "", ""
	if env["GRPC_ADDR"] != "" {
		env["GRPC_ADDR"] = freeAddr(t)
	}
	maps.Copy(env, changed)
	out, err := os.CreateTemp(filepath.Join(s.dir, "logs"), service+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(filepath.Join(s.bin, service))
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, []string{}
	for name, value := range env {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if child, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second) })
	return child, out.Name()
}

func freeAddr(t testing.TB) string {
	t.Helper()
	port, err := localdb.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + strconv.Itoa(port)
}

// Rerouted returns the settings of a service that contain one of the addresses, with the other address in its place.
func (s *Stack) Rerouted(t testing.TB, service string, addresses map[string]string) map[string]string {
	t.Helper()
	settings, err := environmentOf(s.PID(t, service))
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{}
	for name, value := range settings {
		other := value
		for from, to := range addresses {
			// An address ends where the digits of its port end.
			other = regexp.MustCompile(regexp.QuoteMeta(from)+`\b`).ReplaceAllLiteralString(other, to)
		}
		if other != value {
			changed[name] = other
		}
	}
	return changed
}
