package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// launcher is the path of the compiled launcher. fakes is a directory with copies of testdata/fake under the names of the
// programs of a stack.
var launcher, fakes string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "launcher-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	launcher, fakes = filepath.Join(dir, "local"), filepath.Join(dir, "fakes")
	fake := filepath.Join(dir, "fake")
	for out, pkg := range map[string]string{launcher: ".", fake: "./testdata/fake"} {
		if text, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, text)
			return 1
		}
	}
	if err := os.Mkdir(fakes, 0o755); err != nil {
		panic(err)
	}
	for _, name := range []string{"api", "hub", "clock", "venuesim", "devidp"} {
		if err := os.Link(fake, filepath.Join(fakes, name)); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// running is a launcher process that a test started.
type running struct {
	t   *testing.T
	cmd *exec.Cmd
	dir string
	out output
	end chan error
}

type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// begin starts a launcher with fake programs and does not wait for it.
func begin(t *testing.T, dir string, env []string, args ...string) *running {
	t.Helper()
	return launchUp(t, dir, env, append([]string{"--bin", fakes}, args...)...)
}

// launchUp starts a launcher that compiles its programs, unless args has the flag --bin. It does not wait for the launcher.
func launchUp(t *testing.T, dir string, env []string, args ...string) *running {
	t.Helper()
	r := &running{t: t, dir: dir, end: make(chan error, 1)}
	r.cmd = exec.Command(launcher, append([]string{"up", "--dir", dir, "--ports", "auto"}, args...)...)
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.end <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Signal(syscall.SIGTERM) })
	return r
}

// up starts a stack of fake programs and waits until the launcher prints ready.
func up(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return upWith(t, dir, nil, args...)
}

func upWith(t *testing.T, dir string, env []string, args ...string) *running {
	t.Helper()
	r := begin(t, dir, env, args...)
	r.waitUntilReady()
	return r
}

// waitUntilReady waits until the launcher prints ready.
func (r *running) waitUntilReady() {
	r.t.Helper()
	testkit.Eventually(r.t, 60*time.Second, func() bool {
		select {
		case err := <-r.end:
			r.t.Fatalf("the launcher ended before it was ready: %v\n%s", err, r.out.String())
		default:
		}
		return slices.Contains(strings.Split(r.out.String(), "\n"), "ready")
	})
}

func (r *running) stack() stack {
	r.t.Helper()
	s, err := readStack(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// terminate sends SIGTERM to the launcher and requires that it ends with exit code 0 within ten seconds.
func (r *running) terminate() {
	r.t.Helper()
	began := time.Now()
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	if err := <-r.end; err != nil {
		r.t.Fatalf("the launcher ended with %v\n%s", err, r.out.String())
	}
	if took := time.Since(began); took > 10*time.Second {
		r.t.Fatalf("the launcher stopped after %v; want at most 10 s", took)
	}
}

// living returns the sorted names of the processes of a stack that still run.
func living(s stack) (names []string) {
	for name, pid := range s.PIDs {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(raw), ") Z ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func get(t *testing.T, url string, v any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// answers reports whether url answers 200.
func answers(url string) bool {
	resp, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// row executes an SQL query and returns the text of its only value.
func row(t *testing.T, url, sql string) (out string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), sql).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// environ returns the environment variables of the fake program with the URL base.
func environ(t *testing.T, base string) map[string]string {
	t.Helper()
	var pairs []string
	get(t, base+"/env", &pairs)
	env := map[string]string{}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		env[name] = value
	}
	return env
}
