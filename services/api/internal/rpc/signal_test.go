package rpc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// refusingStore records the draft of a call and refuses it for the lack of a quote.
type refusingStore struct {
	signal.Store
	draft signal.Draft
}

func (s *refusingStore) File(_ context.Context, _ signal.Caller, d signal.Draft) (signal.Filing, error) {
	s.draft = d
	return signal.Filing{Verdict: signal.VerdictUnverified}, nil
}

// Integrity P14: the bound of a call and allowUnverified reach the ledger together.
func TestFilePassesTheBoundOn(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{false, true} {
		store := &refusingStore{}
		signals := rpc.NewSignals(signal.NewService(store, nil, time.Now), nil)
		_, err := signals.File(t.Context(), &signalv1.FileRequest{Draft: &signalv1.Draft{
			Id: "018f0000-0000-7000-8000-000000000001", MarketId: "7", Direction: "YES", PriceBps: 3000, Source: "web",
			MaxSlippageBps: proto.Int32(200), AllowUnverified: allow,
		}})
		if d := store.draft; !errors.Is(err, signal.ErrMoved) || d.MaxSlippage == nil || *d.MaxSlippage != 200 || d.AllowUnverified != allow {
			t.Errorf("allow_unverified %v: the draft is %+v, %v", allow, d, err)
		}
	}
}
