package upstream

import (
	"context"

	"google.golang.org/grpc"

	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/wire"
)

// Wire is the ledger's measure of what moved.
type Wire struct {
	read wirev1.WireReadServiceClient
}

// NewWire uses a connection to the ledger.
func NewWire(cc grpc.ClientConnInterface) *Wire {
	return &Wire{wirev1.NewWireReadServiceClient(cc)}
}

// Moves implements wire.Ledger.
func (w *Wire) Moves(ctx context.Context, q wire.Query) (wire.Moves, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := w.read.ListMoves(ctx, &wirev1.ListMovesRequest{Window: string(q.Window), Lane: string(q.Lane), Limit: int32(q.Limit)})
	if err != nil {
		return wire.Moves{}, err
	}
	return wire.Moves{Moves: movesOf(r.GetMoves()), GeneratedAt: at(r.GetGeneratedAt())}, nil
}

// Taken implements broadcast.Talk.
func (w *Wire) Taken(ctx context.Context, limit int) ([]syntax.MarketID, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := w.read.ListTaken(ctx, &wirev1.ListTakenRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]syntax.MarketID, 0, len(r.GetMarkets()))
	for _, m := range r.GetMarkets() {
		out = append(out, syntax.MarketID(m.GetMarketId()))
	}
	return out, nil
}

// Situations implements wire.Ledger. One that names no market says nothing and is
// left out.
func (w *Wire) Situations(ctx context.Context, q wire.Query) (wire.Situations, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := w.read.ListSituations(ctx, &wirev1.ListSituationsRequest{Window: string(q.Window), Lane: string(q.Lane), Limit: int32(q.Limit)})
	if err != nil {
		return wire.Situations{}, err
	}
	out := wire.Situations{GeneratedAt: at(r.GetGeneratedAt()), Situations: make([]wire.Situation, 0, len(r.GetSituations()))}
	for _, s := range r.GetSituations() {
		if len(s.GetMarkets()) == 0 {
			continue
		}
		out.Situations = append(out.Situations, wire.Situation{
			EventKey: s.GetEventKey(), Provider: syntax.Provider(s.GetProvider()), Headline: s.GetHeadline(),
			Lane: syntax.Lane(s.GetLane()), Markets: movesOf(s.GetMarkets()), Count: s.GetMarketCount(), Volume: s.GetVolume(),
			Score: s.GetScore(), Criticality: s.GetCriticality(), DetectedAt: at(s.GetDetectedAt()),
		})
	}
	return out, nil
}

func movesOf(list []*wirev1.Move) []wire.Move {
	out := make([]wire.Move, 0, len(list))
	for _, m := range list {
		out = append(out, wire.Move{
			MarketID: syntax.MarketID(m.GetMarketId()), Provider: syntax.Provider(m.GetProvider()), Title: m.GetTitle(),
			Outcome: m.GetOutcome(), Lane: syntax.Lane(m.GetLane()), EventKey: m.GetEventKey(),
			From: m.GetFromBps(), To: m.GetToBps(), Volume: m.GetVolume(), Volume24h: m.Volume24H,
			Signals: m.GetSignals(), DetectedAt: at(m.GetDetectedAt()),
		})
	}
	return out
}
