package market_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestHangingVenueLeavesTimeToFile checks that a call can be stored in time although its venue does not answer. A late
// answer of the venue is stored.
func TestHangingVenueLeavesTimeToFile(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	gate := make(chan struct{})
	l.venue.set(func() { l.venue.gate = gate })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the deadline of a filing
	defer cancel()
	if err := l.Ensure(ctx, "7", anOperator, time.Second); err != nil {
		t.Fatal(err)
	}
	if m, err := l.Get(ctx, "7"); ctx.Err() == nil && (err != nil || m.Status != protocol.MarketUnknown || m.Title != "7") {
		t.Errorf("stub: %+v, %v", m, err)
	}
	began := time.Now()
	if m := l.get("7"); m.Status != protocol.MarketUnknown || time.Since(began) > 1900*time.Millisecond {
		t.Errorf("the stub was read as %+v after %v", m, time.Since(began))
	}
	close(gate)
	testkit.Eventually(t, 10*time.Second, func() bool { return l.get("7").Status == protocol.MarketOpen })
}
