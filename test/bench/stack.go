package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// databaseSettings are those under which the limits were measured; what makes a
// commit durable stays on, which the launcher sees to.
var databaseSettings = []string{
	"shared_buffers=2GB", "work_mem=64MB", "maintenance_work_mem=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min",
	"random_page_cost=1.1", "jit=off", "max_parallel_workers_per_gather=0",
}

// stack is a product that runs for this bench alone.
type stack struct {
	dir, hubDir string
	launcher    *localdb.Child

	Hub      string         `json:"hub"`
	API      string         `json:"api"`
	Venues   string         `json:"venues"`
	Database string         `json:"databaseUrl"`
	Admin    string         `json:"adminSecret"`
	PIDs     map[string]int `json:"pids"`
}

// startStack builds the launcher and runs it in a folder of its own, with more
// settings.
func startStack(ctx context.Context, dir, name string, more ...string) (*stack, error) {
	return startStackSet(ctx, dir, name, nil, more...)
}

// startStackSet is startStack with further settings of the database.
func startStackSet(ctx context.Context, dir, name string, database []string, more ...string) (*stack, error) {
	fmt.Println("starting the stack")
	launcher := filepath.Join(dir, "local")
	build := exec.CommandContext(ctx, "go", "build", "-o", launcher, "github.com/signalcast/signalcast/deploy/local")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the launcher: %w\n%s", err, bytes.TrimSpace(out))
	}
	s := &stack{dir: filepath.Join(dir, name), hubDir: dir}
	args := []string{"up", "--dir", s.dir, "--fresh", "--ports", "auto"}
	for _, set := range slices.Concat(databaseSettings, database) {
		args = append(args, "--set", set)
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(launcher, args...)
	cmd.Env = append(append(ownEnv(), "RATE_LIMIT_ANON=0"), more...)
	cmd.Stdout, cmd.Stderr = log, log
	if s.launcher, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := s.ready(ctx, log.Name()); err != nil {
		s.stop("")
		return nil, err
	}
	return s, nil
}

// ownEnv is our environment without what would lead the stack to other databases.
func ownEnv() []string {
	var out []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name != "DATABASE_URL" && name != "REDIS_URL" {
			out = append(out, pair)
		}
	}
	return out
}

// ready waits for the launcher's word.
func (s *stack) ready(ctx context.Context, log string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		if err := s.load(); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		pause(ctx, 100*time.Millisecond)
		said, _ := os.ReadFile(log)
		select {
		case <-s.launcher.Done():
			return fmt.Errorf("the stack did not start: %w\n%s", s.launcher.Err(), said)
		case <-ctx.Done():
			return fmt.Errorf("the stack is not ready: %w\n%s", ctx.Err(), said)
		default:
		}
	}
}

// load reads what the launcher tells.
func (s *stack) load() error {
	raw, err := os.ReadFile(filepath.Join(s.dir, "stack.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, s)
}

// stop ends the stack; its logs are kept in a directory when one is given.
func (s *stack) stop(logs string) {
	s.launcher.Stop(context.Background(), syscall.SIGTERM, 20*time.Second)
	if logs == "" {
		return
	}
	_ = os.RemoveAll(filepath.Join(logs, "bench-logs")) // of the last run
	if err := os.CopyFS(filepath.Join(logs, "bench-logs"), os.DirFS(filepath.Join(s.dir, "logs"))); err != nil {
		fmt.Fprintln(os.Stderr, "bench: keep logs:", err)
	}
}

// pid of one part of the stack.
func (s *stack) pid(name string) int { return s.PIDs[name] }

// pinned starts one more of a service beside the stack's, on the server's core alone;
// set replaces settings of the other.
func (s *stack) pinned(ctx context.Context, name string, set ...string) (url string, child *localdb.Child, err error) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.pid(name)))
	if err != nil {
		return "", nil, err
	}
	port, err := localdb.FreePort()
	if err != nil {
		return "", nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := pinned(context.Background(), serverCore, filepath.Join(s.dir, "bin", name))
	for pair := range strings.SplitSeq(string(env), "\x00") {
		if setting, _, ok := strings.Cut(pair, "="); ok && setting != "METRICS_ADDR" {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	// Of settings that are there twice the last one holds.
	cmd.Env = append(append(cmd.Env, "HTTP_ADDR="+addr, "GOMAXPROCS=1"), set...)
	log, err := os.Create(filepath.Join(s.hubDir, "pinned-"+name+".log"))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if child, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		return "", nil, err
	}
	if err := answers(ctx, "http://"+addr+"/readyz"); err != nil {
		child.Stop(context.Background(), syscall.SIGTERM, time.Second)
		return "", nil, fmt.Errorf("the pinned %s: %w", name, err)
	}
	return "http://" + addr, child, nil
}

// answers waits until a URL answers 200.
func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	last := errors.New("it never answered")
	for ctx.Err() == nil {
		status, _, err := get(ctx, url, nil)
		if err == nil && status == http.StatusOK {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		} else if err == nil {
			last = fmt.Errorf("status %d", status)
		}
		pause(ctx, 50*time.Millisecond)
	}
	return fmt.Errorf("%s: %w", url, last)
}

// get reads a URL.
func get(ctx context.Context, url string, header http.Header) (int, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res.StatusCode, res, nil
}
