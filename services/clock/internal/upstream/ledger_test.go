package upstream

import (
	"context"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/testkit"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// fakeCalls is a fake ledger with one call in each second before noon, listed with the newest first.
type fakeCalls struct {
	signalv1.UnimplementedSignalReadServiceServer
	calls    int
	requests int
	down     bool // true: requests fail
}

func (b *fakeCalls) ListLedger(_ context.Context, r *signalv1.ListLedgerRequest) (*signalv1.ListLedgerResponse, error) {
	b.requests++
	if b.down {
		return nil, apperr.New(apperr.Unavailable, "db_unavailable", "")
	}
	from, _ := strconv.Atoi(r.GetCursor())
	out := &signalv1.ListLedgerResponse{}
	for i := from; i < min(from+int(r.GetLimit()), b.calls); i++ {
		out.Signals = append(out.Signals, &signalv1.Signal{CreatedAt: timestamppb.New(callsNoon.Add(-time.Duration(i) * time.Second))})
	}
	if end := from + len(out.GetSignals()); end < b.calls {
		out.NextCursor = strconv.Itoa(end)
	}
	return out, nil
}

// callsNoon is the time of the newest call of fakeCalls.
var callsNoon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// TestCountCalls checks that CountCalls counts the calls of a period, ignores later calls, and stops at the first earlier call.
func TestCountCalls(t *testing.T) {
	t.Parallel()
	b := &fakeCalls{calls: 5000}
	c := NewLedger(testkit.Link(t, func(r grpc.ServiceRegistrar) { signalv1.RegisterSignalReadServiceServer(r, b) }))
	for _, w := range []struct {
		from, to time.Duration // duration before noon; negative: after noon
		want     int64
		requests int
	}{
		{600 * time.Second, 0, 600, 2},
		{10 * time.Second, -time.Second, 11, 1},
		{1600 * time.Second, 1000 * time.Second, 600, 4},
		{10000 * time.Second, 4990 * time.Second, 9, 10},
		{20000 * time.Second, 10000 * time.Second, 0, 10},
	} {
		b.requests = 0
		if got, err := c.CountCalls(t.Context(), "1", callsNoon.Add(-w.from), callsNoon.Add(-w.to)); err != nil || got != w.want ||
			b.requests != w.requests {
			t.Errorf("%v to %v: %d in %d pages, %v, want %d in %d", w.from, w.to, got, b.requests, err, w.want, w.requests)
		}
	}
	b.down = true
	if _, err := c.CountCalls(t.Context(), "1", callsNoon, callsNoon); apperr.Of(err).Code != "db_unavailable" {
		t.Errorf("without the ledger: %v", err)
	}
}
