package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// PID is the process that runs under a name now: hub, hub-2, api, clock, venues,
// idp, postgres, redis. It is 0 when there is none.
func (s *Stack) PID(name string) int {
	var now Info
	if s.read(&now) != nil {
		return 0
	}
	return now.PIDs[name]
}

// Kill ends a process without warning, Postgres with all its children. The
// launcher starts it again.
func (s *Stack) Kill(name string) error {
	pid, err := s.own(name)
	if err == nil {
		err = localdb.KillFamily(pid)
	}
	return err
}

// own is the process of that name, which has to be one that was started here.
func (s *Stack) own(name string) (int, error) {
	pid := s.PID(name)
	if pid == 0 {
		return 0, fmt.Errorf("%s has no process of ours", name)
	}
	return pid, nil
}

// Hang stops a process, and what it started, until resume is called.
func (s *Stack) Hang(name string) (resume func(), err error) {
	pid, err := s.own(name)
	if err != nil {
		return nil, err
	}
	family := localdb.Family(pid)
	for _, p := range family {
		if err := syscall.Kill(p, syscall.SIGSTOP); err != nil && p == pid {
			return nil, fmt.Errorf("stop %s: %w", name, err)
		}
	}
	return func() {
		for _, pid := range family {
			_ = syscall.Kill(pid, syscall.SIGCONT) // one that has ended needs no waking
		}
	}, nil
}

// HangChild stops one process among those that a named one has started, for good.
func (s *Stack) HangChild(name string, pid int) error {
	if !slices.Contains(localdb.Family(s.PID(name)), pid) {
		return fmt.Errorf("process %d is none of %s", pid, name)
	}
	return syscall.Kill(pid, syscall.SIGSTOP)
}

// Down kills processes and keeps them down: the launcher, which would start them
// again, stands still until up is called. Up waits until all answer again.
func (s *Stack) Down(names ...string) (up func(ctx context.Context) error, err error) {
	launcher := s.launcher.PID()
	if err := syscall.Kill(launcher, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	before := map[string]int{}
	up = func(ctx context.Context) error {
		if err := syscall.Kill(launcher, syscall.SIGCONT); err != nil {
			return err
		}
		for name, old := range before {
			if err := s.replaced(ctx, name, old); err != nil {
				return err
			}
		}
		return s.Ready(ctx)
	}
	for _, name := range names {
		before[name] = s.PID(name)
		if err := s.Kill(name); err != nil {
			return nil, errors.Join(err, syscall.Kill(launcher, syscall.SIGCONT))
		}
	}
	return up, nil
}

// Replaced waits until another process than old runs under the name.
func (s *Stack) replaced(ctx context.Context, name string, old int) error {
	return poll(ctx, name+" is not started again", func() bool {
		pid := s.PID(name)
		return pid != 0 && pid != old
	})
}

// Crash kills a process and waits until its successor answers.
func (s *Stack) Crash(ctx context.Context, name string) error {
	old := s.PID(name)
	if err := s.Kill(name); err != nil {
		return err
	}
	if err := s.replaced(ctx, name, old); err != nil {
		return err
	}
	return s.Ready(ctx)
}

// Ready waits until every service says that it is.
func (s *Stack) Ready(ctx context.Context) error {
	for _, base := range append(s.AllHubs(), s.API, s.Clock) {
		if err := ready(ctx, base); err != nil {
			return err
		}
	}
	return nil
}

var prober = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func ready(ctx context.Context, base string) error {
	return poll(ctx, base+" is not ready", func() bool {
		r, err := prober.Get(base + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

func poll(ctx context.Context, otherwise string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", otherwise, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// RSS is the memory that a process holds, in bytes.
func RSS(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("process %d shows no memory", pid)
}

// Environment is what a process was told when it started.
func Environment(pid int) (map[string]string, error) {
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

// Routes lists what a service has mounted in public, as METHOD and pattern, from
// the table of the running process.
func (s *Stack) Routes(ctx context.Context, name string) ([]string, error) {
	env, err := Environment(s.PID(name))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+env["METRICS_ADDR"]+"/routes", nil)
	if err != nil {
		return nil, err
	}
	resp, err := prober.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Routes []struct{ Method, Path string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the routes of %s: %w", name, err)
	}
	var out []string
	for _, r := range list.Routes {
		out = append(out, r.Method+" "+r.Path)
	}
	return out, nil
}
