package chrono

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	pause    = 30 * time.Second       // between two looks at the database's clock
	retry    = time.Second            // after one that failed
	patience = 500 * time.Millisecond // an answer that took longer says too little
	// tolerance is how far the two may be apart. Below it nothing is moved, so that
	// the time of a healthy machine never goes back.
	tolerance = 20 * time.Millisecond
)

// Clock is the time of a process. It reads the machine's clock once, at the start.
type Clock struct {
	start   time.Time
	elapsed func() time.Duration
	ahead   atomic.Int64 // what the database's clock is ahead of ours
}

// New makes a clock from the machine's clock and from the time that passes, which
// nobody can set.
func New(wall func() time.Time, elapsed func() time.Duration) *Clock {
	return &Clock{start: wall(), elapsed: elapsed}
}

// System is the clock of this process.
func System() *Clock {
	start := time.Now()
	return New(func() time.Time { return time.Now() }, func() time.Duration { return time.Since(start) })
}

// Now is the time.
func (c *Clock) Now() time.Time {
	return c.start.Add(c.elapsed() + time.Duration(c.ahead.Load()))
}

// Ask gives the time of the database.
type Ask func(ctx context.Context) (time.Time, error)

// Set moves the clock to that of the database, if they are apart. An answer that was
// long under way is left alone.
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

// Follow keeps the clock with the database's until ctx ends. While there is no
// answer, the time that passes is enough.
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
