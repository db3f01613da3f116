package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const readyWithin = 30 * time.Second

// PID returns the process ID of the named process: hub, hub-2, api, clock, venues, idp, postgres or redis. It fails the test if
// there is none.
func (s *Stack) PID(t testing.TB, name string) int {
	t.Helper()
	pid := s.pid(name)
	if pid == 0 {
		t.Fatalf("the system has no process %s", name)
	}
	return pid
}

// FindPID returns the process ID of the named process. ok is false if there is none.
func (s *Stack) FindPID(name string) (pid int, ok bool) {
	pid = s.pid(name)
	return pid, pid != 0
}

func (s *Stack) pid(name string) int {
	var now Info
	if s.read(&now) != nil {
		return 0 // the launcher is replacing the file
	}
	return now.PIDs[name]
}

// Kill ends the named process with SIGKILL. It also kills the child processes of the process. The launcher then restarts it.
func (s *Stack) Kill(t testing.TB, name string) {
	t.Helper()
	if err := localdb.KillFamily(s.PID(t, name)); err != nil {
		t.Fatalf("kill %s: %v", name, err)
	}
}

// Crash kills the named process and waits until the restarted process runs and all services are ready.
func (s *Stack) Crash(t testing.TB, name string) {
	t.Helper()
	old := s.PID(t, name)
	s.Kill(t, name)
	s.requireReplaced(t, name, old)
	s.RequireReady(t)
}

// Hang suspends a process and its children with SIGSTOP, until the function resume is called or the test ends.
func (s *Stack) Hang(t testing.TB, name string) (resume func()) {
	t.Helper()
	pid := s.PID(t, name)
	family := localdb.Family(pid)
	for _, p := range family {
		if err := syscall.Kill(p, syscall.SIGSTOP); err != nil && p == pid {
			t.Fatalf("stop %s: %v", name, err)
		}
	}
	resume = sync.OnceFunc(func() {
		for _, p := range family {
			_ = syscall.Kill(p, syscall.SIGCONT) // the process may have ended
		}
	})
	t.Cleanup(resume)
	return resume
}

// Down kills the named processes and suspends the launcher, so that they do not restart. The function up resumes the launcher and
// waits until all services are ready. The end of the test also resumes the launcher.
func (s *Stack) Down(t testing.TB, names ...string) (up func()) {
	t.Helper()
	before := map[string]int{}
	for _, name := range names {
		before[name] = s.PID(t, name)
	}
	launcher := s.launcher.PID()
	if err := syscall.Kill(launcher, syscall.SIGSTOP); err != nil {
		t.Fatalf("stop the launcher: %v", err)
	}
	resume := sync.OnceFunc(func() { _ = syscall.Kill(launcher, syscall.SIGCONT) }) // the launcher is a child of this process
	t.Cleanup(resume)
	for name, pid := range before {
		if err := localdb.KillFamily(pid); err != nil {
			t.Fatalf("kill %s: %v", name, err)
		}
	}
	return func() {
		t.Helper()
		resume()
		for name, old := range before {
			s.requireReplaced(t, name, old)
		}
		s.RequireReady(t)
	}
}

func (s *Stack) requireReplaced(t testing.TB, name string, old int) {
	t.Helper()
	require(t, "a new process of "+name, func() bool {
		pid := s.pid(name)
		return pid != 0 && pid != old
	})
}

// RequireReady fails the test unless every hub, the api and the clock are ready within readyWithin.
func (s *Stack) RequireReady(t testing.TB) {
	t.Helper()
	for _, base := range append(s.AllHubs(), s.API, s.Clock) {
		require(t, "the service at "+base+" to be ready", func() bool { return isReady(base) })
	}
}

var prober = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func isReady(base string) bool {
	resp, err := prober.Get(base + "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// require waits up to readyWithin until the function done returns true, and fails the test otherwise. Unlike Eventually, it
// does not use the context of the test, so that a cleanup can call it.
func require(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(readyWithin); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s: not reached within %v", what, readyWithin)
		}
	}
}

// RSS returns the resident memory of the process pid in bytes.
func RSS(t testing.TB, pid int) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("/proc/%d/status has no VmRSS", pid)
	return 0
}

// Routes returns the public routes of a running service, each in the form "METHOD PATH".
func (s *Stack) Routes(t testing.TB, service string) []string {
	t.Helper()
	var list struct {
		Routes []struct{ Method, Path string }
	}
	a := Get(t, "http://"+s.Settings(t, service)["METRICS_ADDR"]+"/routes").Require(http.StatusOK)
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatalf("routes of %s: %v", service, err)
	}
	var out []string
	for _, r := range list.Routes {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// Environment returns the environment variables of the running process of a service.
func (s *Stack) Environment(t testing.TB, service string) map[string]string {
	t.Helper()
	env, err := environmentOf(s.PID(t, service))
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// environmentOf reads the environment variables of a process from /proc.
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

// Setting returns the value of an environment variable of the named running process, or an empty string if it is not set.
func (s *Stack) Setting(t testing.TB, name, variable string) string {
	t.Helper()
	env := s.Environment(t, name)
	return env[variable]
}
