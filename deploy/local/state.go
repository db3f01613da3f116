package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/natefinch/atomic"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

const (
	markerFile  = ".signalcast-stack"
	lockFile    = "lock"
	stackFile   = "stack.json"
	secretsFile = "secrets.json"
	portsFile   = "ports.json"
)

// state is the state directory, which contains all files of one stack. The launcher holds its lock while the stack runs.
type state struct {
	dir  string
	lock *os.File
}

// openState creates and locks the state directory dir. If fresh is true, it deletes the content of the directory. If the last
// stack in the directory is stopping, openState waits until it has stopped. It returns an error if a stack runs in the directory,
// or if the directory is neither empty nor marked as a state directory by an earlier openState.
func openState(ctx context.Context, dir string, fresh bool) (*state, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// 0711 gives other users access to subdirectories, because the database may run as another user.
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir}
	if len(entries) > 0 && !fileExists(s.path(markerFile)) {
		return nil, fmt.Errorf("%s is not empty and not the state directory of a stack; choose another --dir", dir)
	}
	if err := s.acquireLock(ctx); err != nil {
		return nil, err
	}
	if fresh {
		if err := s.clear(); err != nil {
			s.close()
			return nil, fmt.Errorf("empty %s: %w", dir, err)
		}
	}
	if err := os.WriteFile(s.path(markerFile), []byte("State directory of a Signalcast stack. `up --fresh` deletes its content.\n"), 0o600); err != nil {
		s.close()
		return nil, err
	}
	_ = os.Remove(s.path(stackFile)) // from a killed launcher
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

const (
	// stopping is the content of the lock file while its stack stops. Otherwise the file is empty.
	stopping = "stopping"
	// noticeWithin is the time within which a launcher without its parent `go run` stops (see orphaned).
	noticeWithin = 2 * time.Second
	// releaseWithin is the time within which a stopping launcher ends.
	releaseWithin = stopWithin + 5*time.Second
)

// acquireLock locks the state directory. While the stack that holds the lock is stopping, it waits. It returns an error if that
// stack continues to run. The kernel releases the lock when this process ends.
func (s *state) acquireLock(ctx context.Context) error {
	f, err := os.OpenFile(s.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	waiting, end := false, time.Now().Add(noticeWithin)
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		raw, err := os.ReadFile(s.path(lockFile))
		if !waiting && err == nil && string(raw) == stopping {
			say("the stack in %s is still stopping; waiting for it", s.dir)
			waiting, end = true, time.Now().Add(releaseWithin)
		}
		if time.Now().After(end) {
			_ = f.Close()
			return fmt.Errorf("a stack is already running in %s; stop it first, or choose another --dir", s.dir)
		}
		if err := dbtime.Sleep(ctx, 50*time.Millisecond); err != nil {
			_ = f.Close()
			return err
		}
	}
	s.lock = f
	return f.Truncate(0)
}

// markStopping records in the lock file that the stack is stopping, so that the next launcher waits.
func (s *state) markStopping() { _, _ = s.lock.WriteAt([]byte(stopping), 0) }

// clear deletes all files in the state directory except the lock file.
func (s *state) clear() error {
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

// secrets contains the secrets of a stack. They are created once and stored in the state directory.
type secrets struct {
	Admin     string `json:"adminSecret"`
	Cron      string `json:"cronSecret"`
	Link      string `json:"linkSecret"`
	Mask      string `json:"maskSecret"`
	Hooks     string `json:"webhookSecretKey"`
	Checks    string `json:"checkpointKey"`
	Session   string `json:"sessionSecret"`
	Successor string `json:"successorSecret"`
	HubSeed   string `json:"hubSeed"` // of the key for attestations of the hub
	Database  string `json:"databasePassword"`
}

// secrets returns the stored secrets of the stack. It creates and stores missing secrets.
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

// readJSON decodes the file at path into v. If the file does not exist, v does not change.
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

// writeJSON replaces the file at path atomically: a reader receives either the old or the new content.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomic.WriteFile(path, bytes.NewReader(append(raw, '\n')))
}
