package testkit

import (
	"sync"
	"testing"
	"time"
)

// Clock is a clock that a test sets. Pass its method Now to a service as its clock.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that is set to the time now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time to which the clock was set. The time changes only by Set and Advance.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock to now, which may be earlier than before.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance advances the clock by d, which may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Eventually calls the function ok repeatedly until it returns true. The test fails if that does not happen within d.
func Eventually(t testing.TB, d time.Duration, ok func() bool) {
	t.Helper()
	end := time.Now().Add(d)
	for pause := time.Millisecond; !ok(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("condition not met within %v", d)
		}
		time.Sleep(pause)
	}
}
