package main

import (
	"context"
	"sync"
	"time"
)

const (
	firstPause = 200 * time.Millisecond // before the first restart; doubled with each further one
	lastPause  = 5 * time.Second        // the longest pause
	// stableAfter is the run time of a process after which its next restart has the first pause again.
	stableAfter = 10 * time.Second
)

// unit is a database or program that the supervisor can restart at the same address.
type unit interface {
	Restart(ctx context.Context) error
	PID() int
	Done() <-chan struct{}
	LogFile() string
	Tail(lines int) string
}

// supervisor restarts units that end.
type supervisor struct {
	say     func(format string, args ...any)
	changed func() // called after a unit was restarted
	wg      sync.WaitGroup
}

// watch restarts u whenever it ends, until ctx ends. It ignores a unit without a process id.
func (s *supervisor) watch(ctx context.Context, name string, u unit) {
	if u.PID() == 0 {
		return
	}
	s.wg.Go(func() {
		pause := firstPause
		for {
			began := time.Now()
			select {
			case <-ctx.Done():
				return
			case <-u.Done():
			}
			if time.Since(began) > stableAfter {
				pause = firstPause
			}
			s.say("%s ended and is restarted; last lines of %s:\n%s", name, u.LogFile(), u.Tail(5))
			if !s.restart(ctx, name, u, &pause) {
				return
			}
		}
	})
}

// restart tries to start u until u runs or ctx ends. It waits for *pause before each attempt and then doubles *pause, up to
// lastPause. It reports whether u runs.
func (s *supervisor) restart(ctx context.Context, name string, u unit, pause *time.Duration) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(*pause):
		}
		*pause = min(2**pause, lastPause)
		err := u.Restart(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			s.say("%s restarted (process %d)", name, u.PID())
			s.changed()
			return true
		}
		s.say("%s could not be started: %v", name, err)
	}
}
