package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Show is an operator who is live and has an overlay signal.
type Show struct {
	ShowID    string // of the live session
	Handle    syntax.Handle
	Viewers   int64
	HLSURL    string
	MarketID  syntax.MarketID // of the overlay signal
	StartedAt time.Time
}

// Stage knows who is live. Fault: db_unavailable.
type Stage interface {
	// Live lists the operators who are live with an overlay signal, in any order.
	Live(ctx context.Context) ([]Show, error)
}

// StageFunc is a function that is a Stage.
type StageFunc func(ctx context.Context) ([]Show, error)

// Live implements Stage.
func (f StageFunc) Live(ctx context.Context) ([]Show, error) { return f(ctx) }

// Dark is a stage with nobody on it.
var Dark Stage = StageFunc(func(context.Context) ([]Show, error) { return nil, nil })
