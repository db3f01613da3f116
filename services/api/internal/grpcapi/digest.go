package grpcapi

import (
	"context"

	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	"github.com/signalcast/signalcast/services/api/internal/digest"
)

// Digests implements the gRPC service DigestReadService.
type Digests struct {
	digestv1.UnimplementedDigestReadServiceServer
	Store digest.Store
}

// GetDay returns statistics of calls and operators in the window between From and To of the request. Errors: invalid_window if
// a bound is missing, if the window is empty, or if it is too long; db_unavailable.
func (f *Digests) GetDay(ctx context.Context, r *digestv1.GetDayRequest) (*digestv1.GetDayResponse, error) {
	if r.GetFrom() == nil || r.GetTo() == nil {
		return nil, digest.ErrWindow
	}
	w, err := digest.NewWindow(r.GetFrom().AsTime(), r.GetTo().AsTime())
	if err != nil {
		return nil, err
	}
	d, err := f.Store.Day(ctx, w)
	return dayTo(d), err
}

func dayTo(d digest.Day) *digestv1.GetDayResponse {
	return &digestv1.GetDayResponse{
		Signals: d.Signals, Won: d.Won, Lost: d.Lost, Void: d.Void, NewOperators: d.NewOperators, Disputed: d.Disputed,
		Pulse: &digestv1.Pulse{
			Last7: d.Pulse.Last7, Prev7: d.Pulse.Prev7, WeekSignals: d.Pulse.WeekSignals, WeekOperators: d.Pulse.WeekOperators,
		},
		TopCalls: listOf(d.TopCalls, func(c digest.Call) *digestv1.TopCall {
			return &digestv1.TopCall{
				SignalId: c.SignalID, Handle: c.Handle, MarketTitle: c.MarketTitle, Direction: string(c.Side),
				OddsBps: int32(c.Odds), Score: c.Score,
			}
		}),
	}
}
