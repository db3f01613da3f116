package grpcapi

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// Wire implements the gRPC service WireReadService.
type Wire struct {
	wirev1.UnimplementedWireReadServiceServer
	Oracle *attention.Service
}

// ListMoves returns markets whose prices moved within a window, up to the limit of the request. Error: db_unavailable.
func (f *Wire) ListMoves(ctx context.Context, r *wirev1.ListMovesRequest) (*wirev1.ListMovesResponse, error) {
	list, at, err := f.Oracle.Moves(ctx, protocol.ParseWindow(r.GetWindow()), protocol.LaneFilter(r.GetLane()), bound(r.GetLimit(), 50, 200))
	return &wirev1.ListMovesResponse{Moves: listOf(list, moveTo), GeneratedAt: timestamppb.New(at)}, err
}

// ListSituations returns situations: groups of markets of one event whose prices moved within a window. Error: db_unavailable.
func (f *Wire) ListSituations(ctx context.Context, r *wirev1.ListSituationsRequest) (*wirev1.ListSituationsResponse, error) {
	list, at, err := f.Oracle.Situations(ctx, protocol.ParseWindow(r.GetWindow()), protocol.LaneFilter(r.GetLane()), bound(r.GetLimit(), 30, 100))
	return &wirev1.ListSituationsResponse{GeneratedAt: timestamppb.New(at), Situations: listOf(list, situationTo)}, err
}

func situationTo(s movement.Situation) *wirev1.Situation {
	lead := s.Lead()
	return &wirev1.Situation{
		EventKey: lead.EventKey, Provider: string(lead.Provider), Headline: s.Headline(), Lane: string(lead.Lane),
		Markets: listOf(s.Moves, moveTo), MarketCount: int32(s.Count), Volume: s.Volume, Score: int32(s.Score),
		Criticality: string(s.Criticality()), DetectedAt: timestamppb.New(s.DetectedAt),
	}
}

// ListTaken returns open markets, ordered by the number of takes on their calls in the last 24 hours. Error: db_unavailable.
func (f *Wire) ListTaken(ctx context.Context, r *wirev1.ListTakenRequest) (*wirev1.ListTakenResponse, error) {
	list, at, err := f.Oracle.Taken(ctx, bound(r.GetLimit(), 10, 100))
	show := func(m attention.Row) *wirev1.Taken { return &wirev1.Taken{MarketId: string(m.ID), Takes: m.Takes24h} }
	return &wirev1.ListTakenResponse{GeneratedAt: timestamppb.New(at), Markets: listOf(list, show)}, err
}

func moveTo(v movement.Move) *wirev1.Move {
	m := v.Market
	return &wirev1.Move{
		MarketId: string(m.ID), Provider: string(m.Provider), Title: m.Title, Outcome: m.Outcome, Lane: string(m.Lane),
		EventKey: m.EventKey, FromBps: int32(v.From), ToBps: int32(v.To), Volume: *m.Volume, Volume24H: m.Volume24h,
		Signals: m.Signals, DetectedAt: timestamppb.New(v.DetectedAt),
	}
}
