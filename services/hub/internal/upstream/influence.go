package upstream

import (
	"context"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

// Influence implements broadcast.Influences.
func (p *Programs) Influence(ctx context.Context, window string, limit int) (broadcast.Influence, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := p.read.GetInfluence(ctx, &programv1.GetInfluenceRequest{Window: window, Limit: int32(limit)})
	if err != nil {
		return broadcast.Influence{}, err
	}
	out := broadcast.Influence{
		Items: make([]broadcast.Airing, 0, len(r.GetItems())), Airings: r.GetAirings(), Mean: r.MeanAbsMoveBps, Baseline: r.BaselineAbsMoveBps,
		UpdatedAt: at(r.GetUpdatedAt()),
	}
	for _, m := range r.GetItems() {
		out.Items = append(out.Items, broadcast.Airing{
			SegmentID: m.GetSegmentId(), MarketID: syntax.MarketID(m.GetMarketId()), Title: m.GetTitle(), Lane: broadcast.ContentLane(m.GetLane()),
			AiredAt: at(m.GetAiredAt()), EndedAt: at(m.GetEndedAt()), Before: m.GetYesBpsBefore(), After: m.GetYesBpsAfter(),
			Signals: m.SignalsDuring, ViewersPeak: m.GetViewersPeak(), MeasuredAt: at(m.GetMeasuredAt()),
		})
	}
	return out, nil
}
