package ratelimit_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestClockChanges(t *testing.T) {
	testkit.ClockChanges(t, "limit", time.Date(2026, 10, 25, 0, 59, 50, 0, time.UTC), func(t *testing.T, m *testkit.Machine) {
		l := ratelimit.NewLocal("x", 3, time.Minute, m.Now)
		for range 3 {
			l.Allow("a")
		}
		m.Advance(59 * time.Second)
		m.ChangeClock()
		if d := l.Allow("a"); d.Allowed || d.RetryAfter != time.Second {
			t.Errorf("a fourth request after 59 s: %+v; want it rejected for 1 s", d)
		}
		m.Advance(time.Second)
		if !l.Allow("a").Allowed {
			t.Error("a request after one minute was rejected")
		}
	})
}
