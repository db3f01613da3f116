package dbtime

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	pause    = 30 * time.Second       // between two requests for the time of the database
	retry    = time.Second            // after a request that failed
	patience = 500 * time.Millisecond // a later answer is not precise enough
	// tolerance is the largest difference that is ignored, so that the time of a healthy machine never goes back.
	tolerance = 20 * time.Millisecond
)

// Clock is the clock of a process. It reads the clock of the machine once, at the start.
type Clock struct {
	start   time.Time
	elapsed func() time.Duration
	ahead   atomic.Int64 // nanoseconds by which the clock of the database is ahead of this one
}

// New returns a clock that starts at wall. elapsed is the time since then, on a clock that cannot be set.
func New(wall func() time.Time, elapsed func() time.Duration) *Clock {
	return &Clock{start: wall(), elapsed: elapsed}
}

// System returns a clock of this process.
func System() *Clock {
	start := time.Now()
	return New(func() time.Time { return time.Now() }, func() time.Duration { return time.Since(start) })
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	return c.start.Add(c.elapsed() + time.Duration(c.ahead.Load()))
}

// Ask returns the time of the database.
type Ask func(ctx context.Context) (time.Time, error)

// Set sets the clock to that of the database if they differ by more than the tolerance. It returns the error of ask, or
// context.DeadlineExceeded for an answer that took longer than patience; the clock is then unchanged.
func (c *Clock) Set(ctx context.Context, ask Ask) error {
	before := c.elapsed()
	at, err := ask(ctx)
	if err != nil {
		return err
	}
	took := c.elapsed() - before
	if took > patience {
		return context.DeadlineExceeded
	}
	ahead := at.Sub(c.start.Round(0)) - before - took/2
	if off := ahead - time.Duration(c.ahead.Load()); off.Abs() > tolerance+took/2 {
		c.ahead.Store(int64(ahead))
	}
	return nil
}

// Follow sets the clock to that of the database at intervals until ctx ends, and returns the error of ctx. Between answers the
// clock counts the time that passes.
func (c *Clock) Follow(ctx context.Context, ask Ask) error {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		bounded, cancel := context.WithTimeout(ctx, patience)
		next := pause
		if c.Set(bounded, ask) != nil {
			next = retry
		}
		cancel()
		t.Reset(next)
	}
}

// Sleep waits for d or until ctx ends. It returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	return ctx.Err()
}

// Every runs do at once and then at each tick of interval. Of the ticks during a run only one is counted. Every returns the first
// error of do, or the error of ctx when ctx ends.
func Every(ctx context.Context, interval time.Duration, do func() error) error {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		if err := do(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}
