package digest_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
)

func TestClockChanges(t *testing.T) {
	for _, before := range []time.Duration{time.Minute, -30 * time.Minute} {
		name := map[bool]string{true: "day that ends", false: "day that began"}[before > 0]
		midnight := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
		testkit.ClockChanges(t, name, midnight.Add(-before), func(t *testing.T, m *testkit.Machine) {
			want := digest.Yesterday(midnight.Add(-before)).Date
			m.ChangeClock()
			if got := digest.Yesterday(m.Now()).Date; got != want {
				t.Errorf("the digest is of %s, want %s", got, want)
			}
		})
	}
}
