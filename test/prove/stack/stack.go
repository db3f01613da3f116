package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const readyWithin = 90 * time.Second

// Options say how a system is started.
type Options struct {
	Bin      string            // programs, as Build leaves them
	Dir      string            // state directory; it is emptied first
	Hubs     int               // 2 when zero
	Env      map[string]string // settings of every process
	Settings []string          // settings of Postgres, name=value
}

// Info is what the launcher writes down in stack.json.
type Info struct {
	Hub         string         `json:"hub"`
	Hubs        []string       `json:"hubs"`
	API         string         `json:"api"`
	Clock       string         `json:"clock"`
	Venues      string         `json:"venues"`
	IDP         string         `json:"idp"`
	DatabaseURL string         `json:"databaseUrl"`
	RedisURL    string         `json:"redisUrl"`
	AdminSecret string         `json:"adminSecret"`
	CronSecret  string         `json:"cronSecret"`
	PIDs        map[string]int `json:"pids"`
	Nonce       string         `json:"nonce"`
}

// Stack is one running system.
type Stack struct {
	Info // of the start; the ids of processes change, see PID

	opts     Options
	launcher *localdb.Child
}

// Start runs a fresh system and waits until all of it answers.
func Start(ctx context.Context, opts Options) (*Stack, error) {
	if opts.Hubs == 0 {
		opts.Hubs = 2
	}
	s := &Stack{opts: opts}
	args := []string{
		"up", "--dir", opts.Dir, "--fresh", "--ports", "auto", "--hubs", strconv.Itoa(opts.Hubs), "--bin", opts.Bin,
		"--preload", "pg_stat_statements",
	}
	for _, set := range opts.Settings {
		args = append(args, "--set", set)
	}
	log, err := os.Create(s.launcherLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(filepath.Join(opts.Bin, "local"), args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, environment(opts.Env)
	// SIGKILL: a launcher that is being held still would not hear another signal.
	if s.launcher, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	if err := s.wait(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// environment is ours without what would name somebody else's servers.
func environment(own map[string]string) []string {
	out := []string{
		"WEBHOOK_ALLOW_PRIVATE=false",                          // as in production
		"FEDERATION_ALLOW_PRIVATE=true", "FEDERATION_EVERY=2s", // partners are played on this machine
		// Every verified call counts at once; test/system covers second quotes and rated markets.
		"QUOTE_CONFIRM_AFTER=off", "RATED_MIN_VOLUME_USD=0", "MANIFOLD_RATED_CREATORS=*",
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, replaced := own[name]; !replaced && name != "DATABASE_URL" && name != "REDIS_URL" && name != "TEETH" {
			out = append(out, pair)
		}
	}
	for name, value := range own {
		out = append(out, name+"="+value)
	}
	return out
}

func (s *Stack) launcherLog() string { return strings.TrimSuffix(s.opts.Dir, "/") + ".log" }

// wait is done when stack.json is there: the launcher writes it last.
func (s *Stack) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		if err := s.read(&s.Info); err == nil {
			return nil
		}
		select {
		case <-s.launcher.Done():
			return fmt.Errorf("the system did not start: %w\n%s", s.launcher.Err(), tail(s.launcherLog()))
		case <-ctx.Done():
			return fmt.Errorf("the system did not start in time\n%s", tail(s.launcherLog()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Stack) read(into *Info) error {
	raw, err := os.ReadFile(filepath.Join(s.opts.Dir, "stack.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Stop ends everything.
func (s *Stack) Stop() {
	s.launcher.Stop(context.Background(), syscall.SIGTERM, 20*time.Second)
}

// AllHubs lists the addresses of all hubs.
func (s *Stack) AllHubs() []string { return append([]string{s.Hub}, s.Info.Hubs...) }

// Dir is the state directory.
func (s *Stack) Dir() string { return s.opts.Dir }

// Bin is the directory of the programs.
func (s *Stack) Bin() string { return s.opts.Bin }

// Teeth is the fault that is planted in the processes; empty: none.
func (s *Stack) Teeth() string { return s.opts.Env["TEETH"] }

// Logs lists the files in which the processes write.
func (s *Stack) Logs() ([]string, error) {
	logs, err := filepath.Glob(filepath.Join(s.opts.Dir, "logs", "*.log"))
	return append(logs, s.launcherLog(), filepath.Join(s.opts.Dir, "pg", "postgres.log")), err
}

// Secret reads one of the secrets that the launcher made, by its name there.
func (s *Stack) Secret(name string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(s.opts.Dir, "secrets.json"))
	if err != nil {
		return "", err
	}
	var all map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", err
	}
	if all[name] == "" {
		return "", errors.New("the launcher keeps no " + name)
	}
	return all[name], nil
}

// Said returns the last eight lines of the logs of Postgres and of the launcher. They show why a service
// does not become ready.
func (s *Stack) Said() string {
	var out strings.Builder
	for _, path := range []string{filepath.Join(s.opts.Dir, "pg", "postgres.log"), s.launcherLog()} {
		lines := strings.Split(tail(path), "\n")
		for _, line := range lines[max(0, len(lines)-8):] {
			fmt.Fprintf(&out, "     %.200s\n", line)
		}
	}
	return out.String()
}

func tail(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
