package memledger

import (
	"context"

	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// ListMoves answers what the test put there, of one lane when one is asked for.
func (l *Ledger) ListMoves(ctx context.Context, r *wirev1.ListMovesRequest) (*wirev1.ListMovesResponse, error) {
	return do(ctx, l, "ListMoves", func() (*wirev1.ListMovesResponse, error) {
		l.LastMoves = r
		out := &wirev1.ListMovesResponse{GeneratedAt: l.stamp()}
		for _, m := range l.Moves {
			if len(out.Moves) < int(r.GetLimit()) && (r.GetLane() == "" || r.GetLane() == m.GetLane()) {
				out.Moves = append(out.Moves, m)
			}
		}
		return out, nil
	})
}

// ListSituations answers what the test put there for the window, of one lane when
// one is asked for.
func (l *Ledger) ListSituations(ctx context.Context, r *wirev1.ListSituationsRequest) (*wirev1.ListSituationsResponse, error) {
	return do(ctx, l, "ListSituations", func() (*wirev1.ListSituationsResponse, error) {
		l.LastStories = r
		out := &wirev1.ListSituationsResponse{GeneratedAt: l.stamp()}
		for _, s := range l.Situations[r.GetWindow()] {
			if len(out.Situations) < int(r.GetLimit()) && (r.GetLane() == "" || r.GetLane() == s.GetLane()) {
				out.Situations = append(out.Situations, s)
			}
		}
		return out, nil
	})
}
