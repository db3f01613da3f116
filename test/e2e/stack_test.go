package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/testkit"
)

const (
	repo        = "../.."         // from this folder
	startWithin = 4 * time.Minute // the first start compiles everything
	stopWithin  = 15 * time.Second
)

// stack is what stack.json says of the running stack.
type stack struct {
	Hub         string         `json:"hub"`
	API         string         `json:"api"`
	Clock       string         `json:"clock"`
	Venues      string         `json:"venues"`
	IDP         string         `json:"idp"`
	Origin      string         `json:"origin"`
	DatabaseURL string         `json:"databaseUrl"`
	RedisURL    string         `json:"redisUrl"`
	AdminSecret string         `json:"adminSecret"`
	CronSecret  string         `json:"cronSecret"`
	PIDs        map[string]int `json:"pids"`
	Nonce       string         `json:"nonce"`

	dir string
}

// launch is one launcher at work.
type launch struct {
	child *localdb.Child
	out   lines
	dir   string
}

// lines keeps what the launcher prints.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// shared is the stack of this test process, started by the first who asks.
var shared struct {
	once sync.Once
	run  *launch
	mail *testkit.Mailbox // where the stack's letters go
	post func()           // ends it
	err  error
}

// up gives the shared stack as it is now. A stack that does not start fails
// every test that needs it.
func up(t testing.TB) *stack {
	t.Helper()
	shared.once.Do(func() { shared.run, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("start the stack: %v", shared.err)
	}
	s, err := read(shared.run.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, shared.run.out.String())
	}
	return s
}

// start builds the launcher, so that signals reach it and not `go run`, and
// waits until it says ready.
func start() (*launch, error) {
	dir, err := os.MkdirTemp("", "signalcast-e2e-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the database may run as another user
		return nil, err
	}
	launcher := filepath.Join(dir, "local")
	build := exec.Command("go", "build", "-o", launcher, "./deploy/local")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the launcher: %w\n%s", err, out)
	}
	r := &launch{dir: filepath.Join(dir, "stack")}
	cmd := exec.Command(launcher, "up", "--dir", r.dir, "--fresh", "--ports", "auto")
	cmd.Dir = repo
	if shared.mail, shared.post, err = testkit.OpenMailbox(); err != nil {
		return nil, err
	}
	cmd.Env = append(plainEnv(), "RATE_LIMIT_ANON=0",
		"DIGEST_SMTP_URL="+shared.mail.URL(), "DIGEST_FROM=Signalcast <desk@hub.example>", "DIGEST_TO=ann@desk.example,bob@desk.example")
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	if r.child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := r.waitReady(); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// plainEnv returns the environment of this process without what would make the stack another
// one, and with the rules under which every verified call counts at once: these tests are not
// about second quotes and rated markets, which test/system covers.
func plainEnv() []string {
	own := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "DATABASE_URL", "REDIS_URL", "IDP_PROVIDERS", "TRUSTED_PROXIES", "VENUE_SIM_DATA", "LOG_LEVEL":
			return true
		}
		return false
	})
	return append(own, "QUOTE_CONFIRM_AFTER=off", "RATED_MIN_VOLUME_USD=0", "MANIFOLD_RATED_CREATORS=*")
}

func (r *launch) waitReady() error {
	deadline := time.After(startWithin)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !slices.Contains(strings.Split(r.out.String(), "\n"), "ready") {
		select {
		case <-r.child.Done():
			return fmt.Errorf("the launcher ended: %w\n%s", r.child.Err(), r.out.String())
		case <-deadline:
			return fmt.Errorf("not ready within %v\n%s", startWithin, r.out.String())
		case <-tick.C:
		}
	}
	return nil
}

// stop ends the stack in order and removes what it kept.
func (r *launch) stop() {
	r.child.Stop(context.Background(), syscall.SIGTERM, stopWithin)
	_ = os.RemoveAll(filepath.Dir(r.dir))
}

func read(dir string) (*stack, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "stack.json"))
	if err != nil {
		return nil, err
	}
	s := &stack{dir: dir}
	return s, json.Unmarshal(raw, s)
}

// stopShared ends the shared stack and tells whether it ended in order.
func stopShared() error {
	if shared.run == nil {
		return nil
	}
	shared.run.stop()
	shared.post()
	if err := shared.run.child.Err(); err != nil {
		return errors.Join(errors.New("the launcher did not stop in order"), err, errors.New(shared.run.out.String()))
	}
	return nil
}

// kill ends a part of the stack without warning; the launcher starts it again.
func (s *stack) kill(t testing.TB, part string) {
	t.Helper()
	pid := up(t).PIDs[part]
	if pid == 0 {
		t.Fatalf("the stack has no process %s of its own", part)
	}
	testkit.Kill(t, pid)
}

// back waits until a killed part runs as another process.
func (s *stack) back(t testing.TB, part string, old int) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, func() bool {
		now := up(t).PIDs[part]
		return now != 0 && now != old
	})
}

// row asks the database for one value as text.
func (s *stack) row(t testing.TB, sql string, args ...any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var out string
	if err := conn.QueryRow(ctx, sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// redis opens the stack's Redis.
func (s *stack) redis(t testing.TB) *redis.Client {
	t.Helper()
	opt, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
