package testkit

import (
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Machine is a machine whose clock can be set while the time passes as it does: its
// Now is that of a service which runs there.
type Machine struct {
	*dbtime.Clock
	trick func(*Machine)

	mu     sync.Mutex
	wall   time.Time
	passed time.Duration
}

// NewMachine makes a machine whose clock is right.
func NewMachine(at time.Time) *Machine {
	// In summer, somewhere.
	m := &Machine{wall: at.In(time.FixedZone("summer", 2*60*60)), trick: func(*Machine) {}}
	m.Clock = dbtime.New(func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.wall
	}, func() time.Duration {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.passed
	})
	return m
}

// Pass lets time pass.
func (m *Machine) Pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.passed = m.wall.Add(d), m.passed+d
}

// Trick does to the machine's clock what the test is about.
func (m *Machine) Trick() { m.trick(m) }

func (m *Machine) set(change func(time.Time) time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = change(m.wall)
}

// tricks are what happens to clocks.
var tricks = []struct {
	name string
	do   func(time.Time) time.Time
}{
	{"an hour back", func(t time.Time) time.Time { return t.Add(-time.Hour) }},
	{"an hour on", func(t time.Time) time.Time { return t.Add(time.Hour) }},
	{"a leap second", func(t time.Time) time.Time { return t.Add(-time.Second) }},
	// The time of day repeats an hour; on a machine that keeps local time, the clock does.
	{"the end of summer time", func(t time.Time) time.Time {
		return t.Add(-time.Hour).In(time.FixedZone("winter", 60*60))
	}},
}

// Tricks runs a decision that depends on time once for each thing that happens to
// clocks. The decision must come out as if nothing had.
func Tricks(t *testing.T, decision string, at time.Time, run func(t *testing.T, m *Machine)) {
	t.Helper()
	for _, trick := range tricks {
		t.Run(decision+"/"+trick.name, func(t *testing.T) {
			m := NewMachine(at)
			m.trick = func(m *Machine) { m.set(trick.do) }
			run(t, m)
		})
	}
}
