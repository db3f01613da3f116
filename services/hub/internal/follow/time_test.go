package follow_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// noted is a fake store that stores the time of the last follow.
type noted struct {
	follow.Store
	at time.Time
}

func (n *noted) Follow(_ context.Context, _, _ operator.Operator, at time.Time) error {
	n.at = at
	return nil
}

func (n *noted) FollowCounts(context.Context, operator.ID, operator.ID) (follow.Counts, error) {
	return follow.Counts{}, nil
}

func TestClockChanges(t *testing.T) {
	at := time.Date(2026, 10, 25, 0, 59, 50, 0, time.UTC)
	testkit.ClockChanges(t, "time of a follow", at, func(t *testing.T, m *testkit.Machine) {
		n := &noted{}
		s := follow.NewService(operator.Directory{Ledger: renamed{id: "other"}}, n, m.Now)
		m.Advance(time.Minute)
		m.ChangeClock()
		if _, err := s.Follow(t.Context(), operator.Operator{ID: "me", Handle: "me"}, "other"); err != nil {
			t.Fatal(err)
		}
		if !n.at.Equal(at.Add(time.Minute)) {
			t.Errorf("stored with the time %v", n.at.UTC())
		}
	})
}
