package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// process keeps one program running.
type process struct {
	program
	bin string // directory of the binaries
	log string
	own map[string]string

	mu    sync.Mutex
	child *localdb.Child
}

// Restart starts the program, the first time too.
func (p *process) Restart(context.Context) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(filepath.Join(p.bin, p.binary))
	cmd.Env = environment(p.own, p.env)
	cmd.Stdout, cmd.Stderr = log, log
	// SIGKILL: what a service has promised is in Postgres, and one that hangs must
	// not outlive the launcher either.
	child, err := localdb.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.child = child
	return nil
}

func (p *process) current() *localdb.Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child
}

// PID is the id of the running process, 0 before the first start.
func (p *process) PID() int {
	if c := p.current(); c != nil {
		return c.PID()
	}
	return 0
}

// Done is closed when the current process has ended.
func (p *process) Done() <-chan struct{} { return p.current().Done() }

// LogFile is where the process writes.
func (p *process) LogFile() string { return p.log }

// stop asks the process to end and kills it after the grace.
func (p *process) stop(ctx context.Context, grace time.Duration) {
	if c := p.current(); c != nil {
		c.Stop(ctx, syscall.SIGTERM, grace)
	}
}

// ready waits until the program answers its probe. One that ends before that has
// a mistake to show, and is not started again.
func (p *process) ready(ctx context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	url := p.base() + p.probe
	last := "it never answered"
	for {
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended before it was ready (%w); the end of %s:\n%s", p.name, p.current().Err(), p.log, tail(p.log, 30))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s; the end of %s:\n%s", p.name, last, p.log, tail(p.log, 30))
		case <-time.After(20 * time.Millisecond):
		}
		resp, err := client.Get(url)
		if err != nil {
			last = err.Error()
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		last = url + " answers " + resp.Status
	}
}

// environment is our own one with a program's settings over it.
func environment(own, settings map[string]string) []string {
	all := maps.Clone(own)
	maps.Copy(all, settings)
	var env []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// tail is the end of a log file.
func tail(path string, lines int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
