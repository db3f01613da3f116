package wire

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Sizes of the lists.
const (
	DefaultMoves      = 50
	MaxMoves          = 200
	DefaultSituations = 30
	MaxSituations     = 100
)

// Move is one market that moved within a window.
type Move struct {
	MarketID   syntax.MarketID
	Provider   syntax.Provider
	Title      string
	Outcome    string // label of YES
	Lane       syntax.Lane
	EventKey   string // empty: none
	From, To   int32  // bps of YES
	Volume     float64
	Volume24h  *float64
	Signals    int64
	DetectedAt time.Time // first seen moving in this window
}

// Delta is how far it went, in bps; below zero it fell.
func (m *Move) Delta() int32 { return m.To - m.From }

// Moves is a list of moves, the largest change first.
type Moves struct {
	Moves       []Move
	GeneratedAt time.Time
}

// Situation is the moving markets of one event.
type Situation struct {
	EventKey    string // empty: its one market has no event
	Provider    syntax.Provider
	Headline    string
	Lane        syntax.Lane
	Markets     []Move // the largest change first, and that one leads; never empty
	Count       int32  // of all that move
	Volume      float64
	Score       int32 // 0-100
	Criticality string
	DetectedAt  time.Time
}

// Key names a situation among those of its provider: by its event, or by its one market.
func (s *Situation) Key() string {
	if s.EventKey != "" {
		return s.EventKey
	}
	return string(s.Markets[0].MarketID)
}

// Situations is a list of situations, the highest score first.
type Situations struct {
	Situations  []Situation
	GeneratedAt time.Time
}

// Query selects a list.
type Query struct {
	Window syntax.Window
	Lane   syntax.Lane // empty: every lane
	Limit  int
}

// Ledger measures what moved.
type Ledger interface {
	Moves(ctx context.Context, q Query) (Moves, error)
	Situations(ctx context.Context, q Query) (Situations, error)
}
