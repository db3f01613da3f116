package stack

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// Crash kills a process without warning and waits until the launcher has restarted it.
func (s *Stack) Crash(t testing.TB, name string) {
	t.Helper()
	old := s.PID(t, name)
	if err := localdb.KillFamily(old); err != nil {
		t.Fatalf("kill %s: %v", name, err)
	}
	Eventually(t, readyWithin, "a new process "+name, func() bool { pid := s.pid(name); return pid != 0 && pid != old })
	for _, base := range []string{s.Hub, s.API, s.Clock} {
		requireReady(t, base)
	}
}

var probe = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func requireReady(t testing.TB, base string) {
	t.Helper()
	Eventually(t, readyWithin, base+" to be ready", func() bool { return ready(t.Context(), base) })
}

func ready(ctx context.Context, base string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := probe.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
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

// NewProcess starts a further process of hub, api or clock with the settings of the system's own and some changed; an
// empty value unsets one. It returns the address of its HTTP listener and stops the process when the test ends.
func (s *Stack) NewProcess(t testing.TB, service string, changed map[string]string) string {
	t.Helper()
	url, child, log := s.launchProcess(t, service, changed)
	Eventually(t, readyWithin, "a further "+service+" to be ready", func() bool {
		select {
		case <-child.Done():
			t.Fatalf("a further %s ended: %v\n%s", service, child.Err(), tail(log, 10))
		default:
		}
		return ready(t.Context(), url)
	})
	return url
}

// RefusedStart starts a further process like NewProcess, requires that it ends with an error, and returns its output.
func (s *Stack) RefusedStart(t testing.TB, service string, changed map[string]string) string {
	t.Helper()
	_, child, log := s.launchProcess(t, service, changed)
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

func (s *Stack) launchProcess(t testing.TB, service string, changed map[string]string) (url string, child *localdb.Child, log string) {
	t.Helper()
	env, err := environmentOf(s.PID(t, service))
	if err != nil {
		t.Fatal(err)
	}
	url = "http://" + freeAddr(t)
	env["HTTP_ADDR"], env["METRICS_ADDR"], env["ORIGIN_LISTEN"] = url[len("http://"):], "", ""
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
	return url, child, out.Name()
}

func freeAddr(t testing.TB) string {
	t.Helper()
	port, err := localdb.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + strconv.Itoa(port)
}
