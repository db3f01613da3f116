package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/natefinch/atomic"
)

const (
	markerFile  = ".signalcast-stack"
	lockFile    = "lock"
	stackFile   = "stack.json"
	secretsFile = "secrets.json"
	portsFile   = "ports.json"
)

// state is the directory that holds all of one stack.
type state struct {
	dir  string
	lock *os.File
}

// openState takes dir for this process alone, and empties it when it is to be
// fresh. A directory with other things in it is never touched.
func openState(dir string, fresh bool) (*state, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Others pass through: the database may run as another user.
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir}
	if len(entries) > 0 && !fileExists(s.path(markerFile)) {
		return nil, fmt.Errorf("%s is not empty and not the directory of a stack, it is left alone", dir)
	}
	if err := s.take(); err != nil {
		return nil, err
	}
	if fresh {
		if err := s.wipe(); err != nil {
			s.close()
			return nil, fmt.Errorf("empty %s: %w", dir, err)
		}
	}
	if err := os.WriteFile(s.path(markerFile), []byte("The state of one Signalcast stack; `up --fresh` empties this directory.\n"), 0o600); err != nil {
		s.close()
		return nil, err
	}
	_ = os.Remove(s.path(stackFile)) // of a launcher that was killed
	for _, sub := range []string{"bin", "logs", "idp"} {
		if err := os.MkdirAll(s.path(sub), 0o711); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *state) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// take locks the directory; the kernel gives the lock up when this process ends.
func (s *state) take() error {
	f, err := os.OpenFile(s.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return fmt.Errorf("a stack is already running in %s; stop it first, or give another --dir", s.dir)
	}
	s.lock = f
	return nil
}

// wipe removes everything but the lock that is held.
func (s *state) wipe() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == lockFile {
			continue
		}
		if err := os.RemoveAll(s.path(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) close() { _ = s.lock.Close() }

// secrets are made once and kept with the data they protect.
type secrets struct {
	Admin     string `json:"adminSecret"`
	Cron      string `json:"cronSecret"`
	Link      string `json:"linkSecret"`
	Mask      string `json:"maskSecret"`
	Hooks     string `json:"webhookSecretKey"`
	Checks    string `json:"checkpointKey"`
	Session   string `json:"sessionSecret"`
	Successor string `json:"successorSecret"`
	HubSeed   string `json:"hubSeed"` // of the key that the hub attests with
	Database  string `json:"databasePassword"`
}

func (s *state) secrets() (secrets, error) {
	var out secrets
	if err := readJSON(s.path(secretsFile), &out); err != nil {
		return out, err
	}
	for _, f := range []*string{&out.Admin, &out.Cron, &out.Link, &out.Mask, &out.Hooks, &out.Checks, &out.Session, &out.Successor, &out.HubSeed, &out.Database} {
		if *f == "" {
			*f = randomHex(32)
		}
	}
	return out, writeJSON(s.path(secretsFile), out)
}

func randomHex(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readJSON leaves v as it is when there is no such file.
func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON replaces the file in one step: a reader sees the old or the new one.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomic.WriteFile(path, bytes.NewReader(append(raw, '\n')))
}
