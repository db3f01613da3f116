package app

import (
	"context"
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// maxMoves is the maximum number of market moves that are published. Larger moves have precedence.
const maxMoves = 200

// publishMoves publishes changes of market moves and of situations to the readers of this process until ctx ends. Every
// process computes moves and situations itself, so no message between processes is needed.
func (a *App) publishMoves(ctx context.Context) error {
	var published []movement.Move
	var situations httpapi.Situations
	for first := true; ; {
		newer := a.oracle.Newer()
		moves, _, err := a.oracle.Moves(ctx, protocol.Window24h, "", maxMoves)
		if err == nil { // after an error, published remains as it was
			if !first { // moves that existed at the start are in the snapshot of each new subscriber
				for _, e := range a.public.MoveEvents(published, moves) {
					a.broker.Publish(e)
				}
			}
			published, first = moves, false
		}
		situations = a.publishSituations(ctx, situations)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-newer:
		}
	}
}

// publishSituations compares the current situations with published, publishes the changes, and returns the current situations.
// If the situations cannot be read, it publishes nothing and returns published.
func (a *App) publishSituations(ctx context.Context, published httpapi.Situations) httpapi.Situations {
	list, _, err := a.oracle.Situations(ctx, protocol.Window24h, "", math.MaxInt)
	if err != nil {
		return published
	}
	ephemerals, now := a.public.SituationEvents(published, list)
	for _, e := range ephemerals {
		a.broker.Publish(e)
	}
	return now
}
