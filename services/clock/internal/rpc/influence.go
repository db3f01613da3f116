package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// GetInfluence tells what airings did. Fault: db_unavailable.
func (s *Program) GetInfluence(ctx context.Context, r *programv1.GetInfluenceRequest) (*programv1.GetInfluenceResponse, error) {
	now, limit := s.now(), int(r.GetLimit())
	if limit < 1 {
		limit = program.DefaultMoves
	}
	got, err := s.influences.Influence(ctx, now.Add(-program.InfluenceWindow(r.GetWindow())), min(limit, program.MaxMoves))
	if err != nil {
		return nil, err
	}
	out := &programv1.GetInfluenceResponse{
		Items: make([]*programv1.Moved, len(got.Items)), Airings: got.Airings,
		MeanAbsMoveBps: got.MeanMove, BaselineAbsMoveBps: got.BaselineMove, UpdatedAt: timestamppb.New(now),
	}
	for i := range got.Items {
		m := &got.Items[i]
		out.Items[i] = &programv1.Moved{
			SegmentId: m.SegmentID, MarketId: string(m.Market), Title: m.Title, Lane: string(m.Lane),
			AiredAt: timestamppb.New(m.AiredAt), EndedAt: timestamppb.New(m.EndedAt),
			YesBpsBefore: int32(m.Before), YesBpsAfter: int32(m.After),
			SignalsDuring: m.Signals, ViewersPeak: m.ViewersPeak, MeasuredAt: timestamppb.New(m.MeasuredAt),
		}
	}
	return out, nil
}
