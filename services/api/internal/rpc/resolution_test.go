package rpc_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
)

// record stands for the store of one market.
type record struct {
	resolve.Store
	outcome resolve.Outcome
}

func (r *record) Dispute(_ context.Context, _ string, disputed bool, reason *string, _ func() time.Time) (resolve.Outcome, error) {
	r.outcome.Disputed, r.outcome.DisputeReason = disputed, reason
	return r.outcome, nil
}

func (r *record) DrainOnce(context.Context, string) (resolve.Tally, bool, error) {
	return resolve.Tally{}, false, nil
}

// Clearing the flag of a market without an outcome leaves no record, exactly as
// reading its outcome says; with an outcome the record stays.
func TestClearedDispute(t *testing.T) {
	t.Parallel()
	for _, claimed := range []bool{false, true} {
		store := &record{}
		if claimed {
			verdict := syntax.VerdictYes
			store.outcome.Verdict = &verdict
		}
		client := resolutionv1.NewResolutionServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
			resolutionv1.RegisterResolutionServiceServer(r, rpc.NewResolutions(resolve.NewService(store, time.Now), nil, nil))
		}))
		for _, disputed := range []bool{true, false} {
			got, err := client.Dispute(t.Context(), &resolutionv1.DisputeRequest{MarketId: "701122", Disputed: disputed})
			if err != nil {
				t.Fatal(err)
			}
			if want := disputed || claimed; (got.GetOutcome() != nil) != want || got.GetOutcome().GetDisputed() != disputed {
				t.Errorf("claimed %v, disputed %v: %v", claimed, disputed, got.GetOutcome())
			}
		}
	}
}
