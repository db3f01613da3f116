package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// stack is the content of stack.json: the addresses and secrets of a running stack, for other tools.
type stack struct {
	Hub         string         `json:"hub"`
	Hubs        []string       `json:"hubs"` // further hubs, without the first
	API         string         `json:"api"`
	Clock       string         `json:"clock"`
	Venues      string         `json:"venues"`
	IDP         string         `json:"idp"`
	Origin      string         `json:"origin"`      // where video is sent to and watched
	DatabaseURL string         `json:"databaseUrl"` // the administrator's
	RedisURL    string         `json:"redisUrl"`
	AdminSecret string         `json:"adminSecret"`
	CronSecret  string         `json:"cronSecret"`
	PIDs        map[string]int `json:"pids"`
	Nonce       string         `json:"nonce"` // what /healthz of each service echoes
}

// published writes stack.json whenever a process changes.
type published struct {
	mu      sync.Mutex
	path    string
	stack   stack
	units   map[string]unit
	removed bool // the file must not be written again
}

// write replaces the file. It contains the current process ids.
func (p *published) write() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.removed {
		return nil
	}
	p.stack.PIDs = map[string]int{"up": os.Getpid()}
	for name, u := range p.units {
		p.stack.PIDs[name] = u.PID()
	}
	return writeJSON(p.path, p.stack)
}

// remove deletes the file before the processes that it lists end.
func (p *published) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed = true
	_ = os.Remove(p.path)
}

// readStack returns the running stack of the state directory dir.
func readStack(dir string) (stack, error) {
	var s stack
	path := filepath.Join(dir, stackFile)
	if !fileExists(path) {
		return s, fmt.Errorf("no stack runs in %s", dir)
	}
	if err := readJSON(path, &s); err != nil {
		return s, err
	}
	if err := syscall.Kill(s.PIDs["up"], 0); err != nil && !errors.Is(err, os.ErrPermission) {
		return s, fmt.Errorf("no stack runs in %s, its last one was killed", dir)
	}
	return s, nil
}

// stopCmd ends a stack from another terminal.
type stopCmd struct {
	Dir string `default:".local" help:"State directory of the stack."`
}

// Run signals the launcher and waits until it has ended.
func (c *stopCmd) Run(ctx context.Context) error {
	s, err := readStack(c.Dir)
	if err != nil {
		return err
	}
	up := s.PIDs["up"]
	if err := syscall.Kill(up, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", up, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for syscall.Kill(up, 0) == nil {
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d still runs", up)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
