package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// Fact is what is read of one open market. Nil members are unknown.
type Fact struct {
	movement.Market
	Slug       string
	ImageURL   string
	EndDate    *time.Time
	Callable   bool  // nothing but its end date keeps calls away
	Signals24h int64 // calls of the last day
	Takes24h   int64
	Viewers    int64 // who watches it now; set by the Service
}

// Kind is what was sighted.
type Kind string

// The kinds of sightings; the key of a move is its market, that of a situation
// movement.Situation's.
const (
	OfMove      Kind = "move"
	OfSituation Kind = "situation"
)

// Sighting is something that moves within a window.
type Sighting struct {
	Kind   Kind
	Window protocol.Window
	Key    string
}

// Point is the attention of a market since a time.
type Point struct {
	At    time.Time
	Score int
}

// Store keeps what movement is made of. Each method is one transaction.
type Store interface {
	// ListFacts reads every open market as of now, in no order.
	ListFacts(ctx context.Context, now time.Time) ([]Fact, error)
	// ListSightings reads since when each thing that moved is seen.
	ListSightings(ctx context.Context) (map[Sighting]time.Time, error)
	// ListAttention reads the score that each of these markets had at a time; one
	// without a history is left out.
	ListAttention(ctx context.Context, ids []protocol.MarketID, at time.Time) (map[protocol.MarketID]int, error)
	// ListAttentionHistory reads what a market's score became since from and what it was
	// then, oldest first: the newest limit of them.
	ListAttentionHistory(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]Point, error)

	// KeepAttention adds to the history of markets whose score is not the last one
	// in it, and gives their number; a history does not begin with 0.
	KeepAttention(ctx context.Context, scores map[protocol.MarketID]int, at time.Time) (int, error)
	// ThinAttention drops what is too old or too fine.
	ThinAttention(ctx context.Context, now time.Time) error
	// KeepSightings adds those that are not kept yet and drops others.
	KeepSightings(ctx context.Context, seen map[Sighting]time.Time, gone []Sighting) error
}
