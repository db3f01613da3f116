package postgres

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// TestAnOutcomeIsNewerThanEveryCall checks that a claim reads the clock after it has locked the market. The time of an
// outcome must be later than that of every call, even if the clock of another process is ahead.
func TestAnOutcomeIsNewerThanEveryCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := resolution.NewService(b.Store, b.clock.Now)
	hashes := b.operators(2)

	b.venueMarket("80", 5000)
	before := b.hold(`SELECT FROM api.markets WHERE market_id = '80' FOR UPDATE`)
	done := make(chan error, 1)
	go func() {
		_, err := s.Force(t.Context(), "80", protocol.VerdictYes, nil)
		done <- err
	}()
	b.waiters(1)
	b.clock.Advance(time.Second)
	before.commit()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o, _, err := s.Outcome(t.Context(), "80")
	if err != nil || o.ResolvedAt == nil || !o.ResolvedAt.Equal(noon.Add(time.Second)) {
		t.Errorf("resolved at %v, %v: the clock was read before the wait", o.ResolvedAt, err)
	}

	b.venueMarket("81", 5000)
	b.file(hashes[0], "81", protocol.Yes, 5000)
	b.clock.Advance(time.Minute)
	b.file(hashes[1], "81", protocol.No, 5000)
	ahead := b.clock.Now()
	b.clock.Set(noon)
	if _, err := s.Force(t.Context(), "81", protocol.VerdictYes, nil); err != nil {
		t.Fatal(err)
	}
	o, _, err = s.Outcome(t.Context(), "81")
	if err != nil || o.ResolvedAt == nil || !o.ResolvedAt.Equal(ahead.Add(time.Millisecond)) {
		t.Errorf("resolved at %v, %v; the last call is dated %v", o.ResolvedAt, err, ahead)
	}
	if n := b.count(`SELECT count(*) FROM api.signal_results WHERE reason = 'late'`); n != 0 {
		t.Errorf("%d calls from before the claim are late", n)
	}
	if _, _, err := s.Dispute(t.Context(), "81", true, nil); err != nil {
		t.Fatal(err)
	}
	if o, _, err = s.Outcome(t.Context(), "81"); err != nil || o.DisputedAt == nil || o.DisputedAt.Before(ahead) {
		t.Errorf("disputed at %v, %v", o.DisputedAt, err)
	}
}
