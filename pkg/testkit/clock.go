package testkit

import (
	"sync"
	"testing"
	"time"
)

// Clock is a hand-set time; pass its Now where a service takes one.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that stands at now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time that was set.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock, back too.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock on by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Eventually polls ok until it holds and fails the test when it does not within d.
func Eventually(t testing.TB, d time.Duration, ok func() bool) {
	t.Helper()
	end := time.Now().Add(d)
	for pause := time.Millisecond; !ok(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not come true within %v", d)
		}
		time.Sleep(pause)
	}
}
