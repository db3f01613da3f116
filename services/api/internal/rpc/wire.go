package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/wire"
)

// Wire serves WireReadService.
type Wire struct {
	wirev1.UnimplementedWireReadServiceServer
	oracle *oracle.Service
}

// NewWire wires the face.
func NewWire(o *oracle.Service) *Wire { return &Wire{oracle: o} }

// ListMoves lists markets that moved. Fault: db_unavailable.
func (f *Wire) ListMoves(ctx context.Context, r *wirev1.ListMovesRequest) (*wirev1.ListMovesResponse, error) {
	list, at, err := f.oracle.Moves(ctx, syntax.ParseWindow(r.GetWindow()), syntax.LaneFilter(r.GetLane()), bound(r.GetLimit(), 50, 200))
	if err != nil {
		return nil, err
	}
	return &wirev1.ListMovesResponse{Moves: movesTo(list), GeneratedAt: timestamppb.New(at)}, nil
}

// ListSituations lists the stories that moves make. Fault: db_unavailable.
func (f *Wire) ListSituations(ctx context.Context, r *wirev1.ListSituationsRequest) (*wirev1.ListSituationsResponse, error) {
	list, at, err := f.oracle.Situations(ctx, syntax.ParseWindow(r.GetWindow()), syntax.LaneFilter(r.GetLane()), bound(r.GetLimit(), 30, 100))
	if err != nil {
		return nil, err
	}
	out := &wirev1.ListSituationsResponse{GeneratedAt: timestamppb.New(at), Situations: make([]*wirev1.Situation, len(list))}
	for i := range list {
		s := &list[i]
		lead := s.Lead()
		out.Situations[i] = &wirev1.Situation{
			EventKey: lead.EventKey, Provider: string(lead.Provider), Headline: s.Headline(), Lane: string(lead.Lane),
			Markets: movesTo(s.Moves), MarketCount: int32(s.Count), Volume: s.Volume, Score: int32(s.Score),
			Criticality: string(s.Criticality()), DetectedAt: timestamppb.New(s.DetectedAt),
		}
	}
	return out, nil
}

// ListTaken lists open markets by their takes of a day. Fault: db_unavailable.
func (f *Wire) ListTaken(ctx context.Context, r *wirev1.ListTakenRequest) (*wirev1.ListTakenResponse, error) {
	list, at, err := f.oracle.Taken(ctx, bound(r.GetLimit(), 10, 100))
	if err != nil {
		return nil, err
	}
	out := &wirev1.ListTakenResponse{GeneratedAt: timestamppb.New(at), Markets: make([]*wirev1.Taken, len(list))}
	for i := range list {
		out.Markets[i] = &wirev1.Taken{MarketId: string(list[i].ID), Takes: list[i].Takes24h}
	}
	return out, nil
}

func movesTo(list []wire.Move) []*wirev1.Move {
	out := make([]*wirev1.Move, len(list))
	for i := range list {
		m := list[i].Market
		out[i] = &wirev1.Move{
			MarketId: string(m.ID), Provider: string(m.Provider), Title: m.Title, Outcome: m.Outcome, Lane: string(m.Lane),
			EventKey: m.EventKey, FromBps: int32(list[i].From), ToBps: int32(list[i].To), Volume: *m.Volume, Volume24H: m.Volume24h,
			Signals: m.Signals, DetectedAt: timestamppb.New(list[i].DetectedAt),
		}
	}
	return out
}
