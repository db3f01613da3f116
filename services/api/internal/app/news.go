package app

import (
	"context"
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// toldMoves is how many of the largest moves are followed.
const toldMoves = 200

// tellMoves tells the readers of this process what moves, and the stories that it makes:
// each process reads the markets itself.
func (a *App) tellMoves(ctx context.Context) error {
	var told []movement.Move
	var stories httpapi.Situations
	for first := true; ; {
		newer := a.oracle.Newer()
		moves, _, err := a.oracle.Moves(ctx, protocol.Window24h, "", toldMoves)
		if err == nil { // else nothing is known to move
			if !first { // what moved before is in the snapshot of whoever comes
				for _, e := range a.edge.WireNews(told, moves) {
					a.broker.Publish(e)
				}
			}
			told, first = moves, false
		}
		stories = a.tellStories(ctx, stories)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-newer:
		}
	}
}

// tellStories gives what is told of situations now.
func (a *App) tellStories(ctx context.Context, told httpapi.Situations) httpapi.Situations {
	list, _, err := a.oracle.Situations(ctx, protocol.Window24h, "", math.MaxInt)
	if err != nil {
		return told
	}
	news, now := a.edge.SituationNews(told, list)
	for _, e := range news {
		a.broker.Publish(e)
	}
	return now
}
