package testkit

import (
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Machine simulates a machine whose system clock can be set while its monotonic clock continues. Its method Now
// returns the time of a service on the machine.
type Machine struct {
	*dbtime.Clock
	change func(*Machine)

	mu     sync.Mutex
	wall   time.Time
	passed time.Duration
}

// NewMachine returns a machine whose system clock shows the given time.
func NewMachine(at time.Time) *Machine {
	// The local time is summer time, which ends in one of the clock changes.
	m := &Machine{wall: at.In(time.FixedZone("summer", 2*60*60)), change: func(*Machine) {}}
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

// Advance advances the system clock and the monotonic clock by d.
func (m *Machine) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.passed = m.wall.Add(d), m.passed+d
}

// ChangeClock changes the system clock as the current subtest of ClockChanges requires.
func (m *Machine) ChangeClock() { m.change(m) }

func (m *Machine) set(change func(time.Time) time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = change(m.wall)
}

// clockChanges contains the changes of the system clock that ClockChanges tests.
var clockChanges = []struct {
	name string
	do   func(time.Time) time.Time
}{
	{"an hour back", func(t time.Time) time.Time { return t.Add(-time.Hour) }},
	{"an hour on", func(t time.Time) time.Time { return t.Add(time.Hour) }},
	{"a leap second", func(t time.Time) time.Time { return t.Add(-time.Second) }},
	// At the end of summer time an hour of the local time is repeated. A machine whose clock uses local time is set
	// back.
	{"the end of summer time", func(t time.Time) time.Time {
		return t.Add(-time.Hour).In(time.FixedZone("winter", 60*60))
	}},
}

// ClockChanges runs the test of a time-dependent decision once for each change of the system clock. The test calls
// Machine.ChangeClock to apply the change, which must not affect the decision. The names of the subtests begin with the text
// decision. at is the initial time.
func ClockChanges(t *testing.T, decision string, at time.Time, run func(t *testing.T, m *Machine)) {
	t.Helper()
	for _, change := range clockChanges {
		t.Run(decision+"/"+change.name, func(t *testing.T) {
			m := NewMachine(at)
			m.change = func(m *Machine) { m.set(change.do) }
			run(t, m)
		})
	}
}
