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
	Hubs        []string       `json:"hubs"` // additional hubs, without the first one
	API         string         `json:"api"`
	Clock       string         `json:"clock"`
	Venues      string         `json:"venues"`
	IDP         string         `json:"idp"`
	Origin      string         `json:"origin"`      // URL of the video origin
	DatabaseURL string         `json:"databaseUrl"` // with the superuser
	RedisURL    string         `json:"redisUrl"`
	AdminSecret string         `json:"adminSecret"`
	CronSecret  string         `json:"cronSecret"`
	PIDs        map[string]int `json:"pids"`
	Nonce       string         `json:"nonce"` // returned by /healthz of each service
}

// published contains the current content of stack.json. Its method write replaces the file, and its method remove deletes the
// file.
type published struct {
	mu      sync.Mutex
	path    string
	stack   stack
	units   map[string]unit
	removed bool // stack.json was deleted and must not be written again
}

// write replaces stack.json with the current process ids. After remove it does nothing.
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

// remove deletes stack.json. The launcher calls it before it stops the processes.
func (p *published) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed = true
	_ = os.Remove(p.path)
}

// readStack returns the content of stack.json in the state directory dir. It returns an error if no stack runs there.
func readStack(dir string) (stack, error) {
	var s stack
	path := filepath.Join(dir, stackFile)
	if !fileExists(path) {
		return s, fmt.Errorf("no stack runs in %s; run make up", dir)
	}
	if err := readJSON(path, &s); err != nil {
		return s, err
	}
	if err := syscall.Kill(s.PIDs["up"], 0); err != nil && !errors.Is(err, os.ErrPermission) {
		return s, fmt.Errorf("no stack runs in %s; the last one was killed; run make up", dir)
	}
	return s, nil
}

// stopCmd is the command stop. It stops a stack from another terminal.
type stopCmd struct {
	Dir string `default:".local" help:"State directory of the stack."`
}

// Run sends SIGTERM to the launcher and waits until the launcher has ended, at most 15 s.
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
			return fmt.Errorf("process %d still runs 15 s after SIGTERM", up)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
