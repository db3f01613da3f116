package app

import (
	"context"
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// maxMoves is the number of the largest market moves that are published.
const maxMoves = 200

// publishMoves publishes changes of market movement and of situations to the readers of this process. Every process reads the
// markets itself, so no message between processes is needed.
func (a *App) publishMoves(ctx context.Context) error {
	var published []movement.Move
	var situations httpapi.Situations
	for first := true; ; {
		newer := a.oracle.Newer()
		moves, _, err := a.oracle.Moves(ctx, protocol.Window24h, "", maxMoves)
		if err == nil { // an error leaves the last published moves unchanged
			if !first { // a new subscriber gets earlier moves in its snapshot
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

// publishSituations publishes the changes between the situations that were published last and the current ones, and returns
// the current ones.
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
