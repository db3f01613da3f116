package main

import (
	"context"
	"sync"
	"time"
)

const (
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
	// A process that ran this long starts over with a short pause.
	settled = 10 * time.Second
)

// unit is a server or program that can be started again at its address.
type unit interface {
	Restart(ctx context.Context) error
	PID() int
	Done() <-chan struct{}
	LogFile() string
	Tail(lines int) string
}

// supervisor starts units again that end by themselves.
type supervisor struct {
	say     func(format string, args ...any)
	changed func() // called when a unit has a new process
	wg      sync.WaitGroup
}

// watch restarts u whenever it ends, until ctx ends. A unit that was not started here has no process and is not watched.
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
			if time.Since(began) > settled {
				pause = firstPause
			}
			s.say("%s ended; it is started again. The end of %s:\n%s", name, u.LogFile(), u.Tail(5))
			if !s.revive(ctx, name, u, &pause) {
				return
			}
		}
	})
}

// revive tries until u runs again or ctx ends.
func (s *supervisor) revive(ctx context.Context, name string, u unit, pause *time.Duration) bool {
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
			s.say("%s runs again (process %d)", name, u.PID())
			s.changed()
			return true
		}
		s.say("%s cannot be started: %v", name, err)
	}
}
