package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of a reading of what airings did.
const (
	DefaultMoves = 50
	MaxMoves     = 200
)

// Moved is an airing with what became of its market. That the market moved after it had
// aired does not say that it moved because of it.
type Moved struct {
	SegmentID     string
	Market        protocol.MarketID
	Title         string
	Lane          Lane
	AiredAt       time.Time
	EndedAt       time.Time
	Before, After protocol.Bps
	Signals       *int64 // filed while it aired; nil: nobody could count them
	ViewersPeak   int32
	MeasuredAt    time.Time
}

// Influence is what airings of a window did, beside what else moved.
type Influence struct {
	Items        []Moved  // the largest move first
	Airings      int64    // all of the window whose move is known
	MeanMove     *float64 // of these, in bps without signs; nil: none
	BaselineMove *float64 // of markets that did not air; nil: none was looked at
}

// week is the longest window; the others are those of the wire.
const week = "7d"

// Influence returns the airings of a window after which the prices of their markets moved most, at most limit of them. An unknown
// window means 24 hours. A limit of 0 or less means DefaultMoves. Fault: db_unavailable.
func (s *Surveyor) Influence(ctx context.Context, window string, limit int) (Influence, error) {
	length := protocol.ParseWindow(window).Duration()
	if window == week {
		length = 7 * 24 * time.Hour
	}
	if limit <= 0 {
		limit = DefaultMoves
	}
	return s.store.Influence(ctx, s.now().Add(-length), min(limit, MaxMoves))
}
