package station

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Sizes of the list of clips.
const (
	DefaultClips = 20
	MaxClips     = 50
)

// Clip is a short piece of a stream that can be watched.
type Clip struct {
	ID           string
	Handle       syntax.Handle // whose stream it was
	MarketID     syntax.MarketID
	Title        string // may be empty
	URL          string
	ThumbnailURL *string
	Duration     *int32 // seconds
	Status       string
	Stance       *string // the operator's own call on the market
	Views        int64
	Boosted      bool
	CreatedBy    syntax.Handle
	CreatedAt    time.Time
	ReadyAt      time.Time
}

// Clips is the shelf of clips. Fault: db_unavailable.
type Clips interface {
	// Clips lists the ready clips of a market, the newest first.
	Clips(ctx context.Context, market syntax.MarketID, limit int) ([]Clip, error)
}
