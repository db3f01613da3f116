package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const (
	startWithin = 4 * time.Minute
	stopWithin  = 20 * time.Second
)

// Info is the content of the file stack.json, which the launcher writes when all services are ready. Hub to Origin are base URLs.
type Info struct {
	Hub         string         `json:"hub"`
	Hubs        []string       `json:"hubs"`
	API         string         `json:"api"`
	Clock       string         `json:"clock"`
	Venues      string         `json:"venues"`
	IDP         string         `json:"idp"`
	Origin      string         `json:"origin"` // of the video origin
	DatabaseURL string         `json:"databaseUrl"`
	RedisURL    string         `json:"redisUrl"`
	AdminSecret string         `json:"adminSecret"`
	CronSecret  string         `json:"cronSecret"`
	PIDs        map[string]int `json:"pids"`
}

// Stack is one running system: hubs, api, clock, simulated venues, identity provider, Postgres and Redis.
type Stack struct {
	Info // at the start of the system; use PID for current process ids

	dir, bin string
	launcher *localdb.Child
	admin    func() (*pgxpool.Pool, error)
}

// shared contains the systems that tests of this binary share, by the names of their settings.
var shared struct {
	mu     sync.Mutex
	byName map[string]*sharedStack
}

type sharedStack struct {
	start func() (*Stack, error)
	use   sync.Mutex // locked by the test that currently uses an exclusive system
}

func sharedBy(name string, set settings) *sharedStack {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if s, ok := shared.byName[name]; ok {
		return s
	}
	s := &sharedStack{start: sync.OnceValues(func() (*Stack, error) { return launch(set) })}
	if shared.byName == nil {
		shared.byName = map[string]*sharedStack{}
	}
	shared.byName[name] = s
	return s
}

// Shared returns the system that all tests of this binary with equal settings share. The first call starts the system, and Main
// stops it. A test must not stop processes of a shared system, and must not make its venues fail.
func Shared(t testing.TB, opts ...Option) *Stack {
	t.Helper()
	set := newSettings(opts)
	return open(t, sharedBy(set.name(), set))
}

// Exclusive returns a system that only one test uses at a time, and that Shared never returns. It is for tests that stop
// processes, make venues fail, or measure performance. When the test ends, all processes must be ready within readyWithin. A
// parallel test that waits for the system occupies one of the parallel slots of the test binary.
func Exclusive(t testing.TB, opts ...Option) *Stack {
	t.Helper()
	set := newSettings(opts)
	entry := sharedBy("exclusive\n"+set.name(), set)
	entry.use.Lock()
	t.Cleanup(entry.use.Unlock)
	s := open(t, entry)
	t.Cleanup(func() { s.RequireReady(t) })
	return s
}

func open(t testing.TB, entry *sharedStack) *Stack {
	t.Helper()
	Bin(t)
	s, err := entry.start()
	if err != nil {
		t.Fatalf("start the shared system: %v", err)
	}
	s.logOnFailure(t)
	return s
}

// Start starts a system for one test. The system stops when the test ends.
func Start(t testing.TB, opts ...Option) *Stack {
	t.Helper()
	Bin(t)
	s, err := launch(newSettings(opts))
	if err != nil {
		t.Fatalf("start the system: %v", err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stop the system: %v", err)
		}
	})
	s.logOnFailure(t)
	return s
}

// Stop stops the system before the end of its test. It is for systems that Start has returned.
func (s *Stack) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop the system: %v", err)
	}
}

// atEnd contains the functions that Main calls after the tests.
var atEnd struct {
	mu   sync.Mutex
	list []func()
}

// AtEnd registers a function that Main calls after the tests.
func AtEnd(do func()) {
	atEnd.mu.Lock()
	defer atEnd.mu.Unlock()
	atEnd.list = append(atEnd.list, do)
}

// Parallel sets the number of tests of the package that run in parallel, for tests that mostly wait. The flag
// -test.parallel takes precedence.
func Parallel(n int) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if chosen {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Main runs the tests of a package, the functions that AtEnd has registered, and the checks. It then stops the shared systems,
// deletes all temporary files and exits. The exit code is not 0 if a test or a check failed.
func Main(m *testing.M, checks ...func() error) {
	code := m.Run()
	for _, do := range atEnd.list {
		do()
	}
	for _, check := range checks {
		if err := check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the shared systems:", err)
		code = 1
	}
	if dir, err := tempRoot(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// stopShared stops all shared systems concurrently.
func stopShared() error {
	var wait sync.WaitGroup
	failed := make(chan error, len(shared.byName))
	for _, entry := range shared.byName {
		wait.Go(func() {
			if s, err := entry.start(); err == nil { // a failed start has already failed a test
				failed <- s.stop()
			}
		})
	}
	wait.Wait()
	close(failed)
	var all error
	for err := range failed {
		all = errors.Join(all, err)
	}
	return all
}

var started atomic.Int64

// launch starts a system and waits until every service is ready. If an address is already in use, it tries again, up to three
// times in all. Another process can take a chosen port before the system uses it.
func launch(set settings) (s *Stack, err error) {
	for range 3 {
		if s, err = launchOnce(set); err == nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return s, err
}

// lockStarts takes a lock that all test binaries share, so that only one system starts at a time. A start uses all CPU cores of
// the machine.
func lockStarts() (unlock func(), err error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return lock(filepath.Join(root, ".tools", "start.lock"))
}

func launchOnce(set settings) (*Stack, error) {
	root, err := tempRoot()
	if err != nil {
		return nil, err
	}
	bin, err := set.bin, error(nil)
	if bin == "" {
		bin, err = built()
	}
	if err != nil {
		return nil, err
	}
	unlock, err := lockStarts()
	if err != nil {
		return nil, err
	}
	defer unlock()
	s := &Stack{dir: filepath.Join(root, fmt.Sprintf("stack-%d", started.Add(1))), bin: bin}
	log, err := os.Create(s.dir + ".log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	args := []string{
		"up", "--dir", s.dir, "--fresh", "--ports", "auto", "--bin", bin, "--hubs", strconv.Itoa(set.hubs),
		"--preload", "pg_stat_statements",
	}
	for _, value := range set.postgres {
		args = append(args, "--set", value)
	}
	env, err := withServers(set.env)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(bin, "local"), args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, environment(env)
	// SIGKILL is required because a test may have suspended the launcher, and a suspended process handles no other
	// signal.
	if s.launcher, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	if err := s.waitStarted(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.register()
	s.admin = sync.OnceValues(func() (*pgxpool.Pool, error) { return pgxpool.New(context.Background(), s.DatabaseURL) })
	if sql := os.Getenv(sqlEnv); sql != "" {
		if err := s.exec(sql); err != nil {
			return nil, errors.Join(fmt.Errorf("run the SQL of the fault: %w", err), s.stop())
		}
	}
	return s, nil
}

// withServers returns the variables in own. If TEST_DATABASE_URL is set, it creates a database on that server and adds its URL, and
// likewise the URL of TEST_REDIS_URL, so that the launcher starts neither server. Then only one system can run at a time, because
// its roles belong to the whole server.
func withServers(own map[string]string) (map[string]string, error) {
	out := maps.Clone(own)
	if out == nil {
		out = map[string]string{}
	}
	if url := os.Getenv("TEST_DATABASE_URL"); url != "" {
		url, err := localdb.EnsureDatabase(context.Background(), url, "sc_system_"+strings.ToLower(rand.Text()))
		if err != nil {
			return nil, err
		}
		out["DATABASE_URL"] = url
	}
	if url := os.Getenv("TEST_REDIS_URL"); url != "" {
		out["REDIS_URL"] = url
	}
	return out, nil
}

// exec executes SQL statements as the schema owner.
func (s *Stack) exec(sql string) error {
	pool, err := s.admin()
	if err != nil {
		return err
	}
	_, err = pool.Exec(context.Background(), sql)
	return err
}

// environment returns the environment of this process with the variables in own added or replaced. It omits variables of this
// process that would select another system or change its settings.
func environment(own map[string]string) []string {
	var out []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		_, replaced := own[name]
		switch name {
		case "DATABASE_URL", "REDIS_URL", "IDP_PROVIDERS", "TRUSTED_PROXIES", "VENUE_SIM_DATA", "LOG_LEVEL", "ENV", settingsEnv, sqlEnv:
			replaced = true
		}
		if !replaced {
			out = append(out, pair)
		}
	}
	for name, value := range own {
		out = append(out, name+"="+value)
	}
	return out
}

// waitStarted reads stack.json into s.Info. It waits up to startWithin until the file exists; the launcher writes it when all
// services are ready.
func (s *Stack) waitStarted() error {
	deadline := time.After(startWithin)
	for {
		if err := s.read(&s.Info); err == nil {
			return nil
		}
		select {
		case <-s.launcher.Done():
			return fmt.Errorf("the launcher ended before the system was ready: %w\n%s", s.launcher.Err(), tail(s.dir+".log", 20))
		case <-deadline:
			return fmt.Errorf("the system was not ready within %v\n%s", startWithin, tail(s.dir+".log", 20))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Stack) read(into *Info) error {
	raw, err := os.ReadFile(filepath.Join(s.dir, "stack.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// stop stops the system and closes the connection pool. It returns an error if the launcher ends with an error.
func (s *Stack) stop() error {
	if s.admin != nil {
		if pool, err := s.admin(); err == nil {
			pool.Close()
		}
	}
	s.launcher.Stop(context.Background(), syscall.SIGTERM, stopWithin)
	if err := s.launcher.Err(); err != nil {
		return fmt.Errorf("the launcher ended with an error: %w\n%s", err, tail(s.dir+".log", 20))
	}
	return nil
}

// logOnFailure logs the last ten warnings and errors of each service if the test fails.
func (s *Stack) logOnFailure(t testing.TB) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, service := range []string{"hub", "api", "clock"} {
			raw, err := os.ReadFile(s.Log(service))
			if err != nil {
				continue // the service was never started
			}
			var warnings []string
			for line := range strings.SplitSeq(string(raw), "\n") {
				if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) || strings.HasPrefix(line, "panic") {
					warnings = append(warnings, line)
				}
			}
			if n := len(warnings); n > 0 {
				t.Logf("%d warnings and errors of %s; the last ten:\n%s", n, service, strings.Join(warnings[max(0, n-10):], "\n"))
			}
		}
	})
}

// Dir returns the directory for the files of the system.
func (s *Stack) Dir() string { return s.dir }

// AllHubs returns the base URLs of all hubs.
func (s *Stack) AllHubs() []string { return append([]string{s.Hub}, s.Hubs...) }

// HubAt returns the base URL of the hub with index i, modulo the number of hubs.
func (s *Stack) HubAt(i int) string {
	all := s.AllHubs()
	return all[i%len(all)]
}

// Log returns the path of the log file of the named process.
func (s *Stack) Log(name string) string { return filepath.Join(s.dir, "logs", name+".log") }

// Logs returns the paths of the log files of all processes.
func (s *Stack) Logs(t testing.TB) []string {
	t.Helper()
	logs, err := filepath.Glob(s.Log("*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(logs, s.dir+".log", filepath.Join(s.dir, "pg", "postgres.log"))
}

// Secret returns the named secret from secrets.json, in which the launcher stores the secrets that it generates.
func (s *Stack) Secret(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "secrets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if all[name] == "" {
		t.Fatalf("secrets.json has no %s", name)
	}
	return all[name]
}

// DB returns a connection pool with the permissions of the schema owner.
func (s *Stack) DB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := s.admin()
	if err != nil {
		t.Fatalf("connect to the database: %v", err)
	}
	return pool
}

// Query executes a query as the schema owner and returns the only value of its result as T. It fails the test after 20 s.
func Query[T any](t testing.TB, s *Stack, sql string, args ...any) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out T
	if err := s.DB(t).QueryRow(ctx, sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// Eventually calls the function done every 50 ms until it returns true. It fails the test if done does not return true within
// the duration d. The failure message contains what, a description of the expected state.
func Eventually(t testing.TB, d time.Duration, what string, done func() bool) {
	t.Helper()
	end := time.Now().Add(d)
	for !done() {
		if time.Now().After(end) {
			t.Fatalf("waited for %s: not reached within %v", what, d)
		}
		Wait(t, 50*time.Millisecond)
	}
}

// Wait waits for the duration d. It fails the test if the context of the test ends first.
func Wait(t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatalf("the test ended while it waited for %v", d)
	case <-time.After(d):
	}
}

func tail(path string, lines int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// ServiceDatabase returns the DATABASE_URL of a running service.
func (s *Stack) ServiceDatabase(t testing.TB, service string) string {
	t.Helper()
	env := s.Environment(t, service)
	return env["DATABASE_URL"]
}
