package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// DefaultMoves and MaxMoves are the default and the maximum number of airings that Surveyor.Influence returns.
const (
	DefaultMoves = 50
	MaxMoves     = 200
)

// Moved is a measured airing with the price of its market before and after the airing. A price move after an airing does not mean
// that the airing caused the move.
type Moved struct {
	SegmentID     string
	Market        protocol.MarketID
	Title         string
	Lane          Lane
	AiredAt       time.Time
	EndedAt       time.Time
	Before, After protocol.Bps
	Signals       *int64 // number of calls filed during the airing; nil: they could not be counted
	ViewersPeak   int32
	MeasuredAt    time.Time
}

// Influence contains the price moves after the airings in a time window. For comparison, it also contains the mean price move of
// markets that did not air.
type Influence struct {
	Items        []Moved  // sorted by the size of the move, the largest first
	Airings      int64    // number of airings in the window whose price move is known
	MeanMove     *float64 // mean absolute price move of the counted airings in basis points; nil: no airings
	BaselineMove *float64 // mean absolute price move of markets that did not air, in basis points; nil: no market was sampled
}

// week is the name of the longest time window. protocol.ParseWindow defines the shorter windows.
const week = "7d"

// Influence returns the airings with the largest price moves in a time window. An unknown window means 24 hours. It returns
// at most limit airings and at most MaxMoves. If limit is 0 or less, it uses DefaultMoves. Error: db_unavailable.
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
