package dbtime

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	requestInterval = 30 * time.Second       // time between two requests for the database time
	retryInterval   = time.Second            // time to the next request after a failed one
	maxLatency      = 500 * time.Millisecond // maximum latency of an answer; later answers are too imprecise
	// tolerance is the largest difference that is ignored. It prevents small corrections that would make the time go
	// backwards.
	tolerance = 20 * time.Millisecond
)

// Clock is the clock of a process. It reads the system clock once, in New. Set and Follow correct it to the time of the
// database.
type Clock struct {
	start   time.Time
	elapsed func() time.Duration
	ahead   atomic.Int64 // nanoseconds by which the database clock is ahead of this clock
}

// New returns a clock that starts at wall(). elapsed returns the time since then from a monotonic clock.
func New(wall func() time.Time, elapsed func() time.Duration) *Clock {
	return &Clock{start: wall(), elapsed: elapsed}
}

// System returns a clock that uses the system clock and the monotonic clock of this process.
func System() *Clock {
	start := time.Now()
	return New(time.Now, func() time.Duration { return time.Since(start) })
}

// Now returns the current time of the clock, with the last correction to the time of the database.
func (c *Clock) Now() time.Time {
	return c.start.Add(c.elapsed() + time.Duration(c.ahead.Load()))
}

// Ask is a function that requests the current time of the database.
type Ask func(ctx context.Context) (time.Time, error)

// Set sets the clock to the database time if they differ by more than tolerance plus half the latency of ask. It
// returns the error of ask, or context.DeadlineExceeded if the answer took longer than maxLatency. After an error the
// clock is unchanged.
func (c *Clock) Set(ctx context.Context, ask Ask) error {
	before := c.elapsed()
	at, err := ask(ctx)
	if err != nil {
		return err
	}
	took := c.elapsed() - before
	if took > maxLatency {
		return context.DeadlineExceeded
	}
	ahead := at.Sub(c.start.Round(0)) - before - took/2
	if off := ahead - time.Duration(c.ahead.Load()); off.Abs() > tolerance+took/2 {
		c.ahead.Store(int64(ahead))
	}
	return nil
}

// Follow calls Set every 30 seconds, or one second after a failure, until ctx ends. It returns the error of ctx. Between two
// calls of Set, the clock advances with the monotonic clock.
func (c *Clock) Follow(ctx context.Context, ask Ask) error {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		bounded, cancel := context.WithTimeout(ctx, maxLatency)
		next := requestInterval
		if c.Set(bounded, ask) != nil {
			next = retryInterval
		}
		cancel()
		t.Reset(next)
	}
}

// Sleep waits for d or until ctx ends. It returns the error of ctx, which is nil if ctx has not ended.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	return ctx.Err()
}

// Every calls the function do at once and then at each tick of interval. If do takes longer than interval, missed ticks are
// dropped. Every returns the first error of do, or the error of ctx when ctx ends.
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
