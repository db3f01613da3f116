package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// Fact is the stored data of one open market. The value of a nil member is unknown.
type Fact struct {
	movement.Market
	Slug       string
	ImageURL   string
	EndDate    *time.Time
	Callable   bool  // the market accepts calls until its end date
	Signals24h int64 // calls of the last 24 hours
	Takes24h   int64
	Viewers    int64 // present number of viewers; set by the Service
}

// Kind states whether a sighting is a move or a situation.
type Kind string

// Values of Kind. The key of a move is the id of its market, and the key of a situation is Situation.Key of package
// movement.
const (
	OfMove      Kind = "move"
	OfSituation Kind = "situation"
)

// Sighting identifies a move or a situation within a window. It is stored with the time at which it was first seen.
type Sighting struct {
	Kind   Kind
	Window protocol.Window
	Key    string
}

// Point is the attention score of a market from the time At until the next point.
type Point struct {
	At    time.Time
	Score int
}

// Store reads the data of open markets, and stores the history of attention scores and the sightings. Each method is one
// transaction.
type Store interface {
	// ListFacts returns every open market with its data at the time now, in no particular order.
	ListFacts(ctx context.Context, now time.Time) ([]Fact, error)
	// ListSightings returns the stored sightings and the time at which each was first seen.
	ListSightings(ctx context.Context) (map[Sighting]time.Time, error)
	// ListAttention returns the score that each of the given markets had at a time. A market without a stored score is
	// absent from the map.
	ListAttention(ctx context.Context, ids []protocol.MarketID, at time.Time) (map[protocol.MarketID]int, error)
	// ListAttentionHistory returns the score of a market at the time from and its later changes, oldest first. If there are
	// more than limit points, it returns the newest limit points.
	ListAttentionHistory(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]Point, error)

	// StoreAttention adds a point to the history of each market whose score differs from its last stored score. A
	// history does not start with the score 0. It returns the number of added points.
	StoreAttention(ctx context.Context, scores map[protocol.MarketID]int, at time.Time) (int, error)
	// ThinAttention deletes points that are too old or too dense.
	ThinAttention(ctx context.Context, now time.Time) error
	// StoreMoves stores changes of the YES price within 24 hours, in bps without a sign, and deletes those of the markets in
	// unknown. If all is true, it deletes those of every other market.
	StoreMoves(ctx context.Context, moves map[protocol.MarketID]int, unknown []protocol.MarketID, all bool) error
	// StoreSightings stores new sightings and deletes ended ones.
	StoreSightings(ctx context.Context, seen map[Sighting]time.Time, ended []Sighting) error
}
