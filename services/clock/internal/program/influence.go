package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of the number of airings that Surveyor.Influence returns.
const (
	DefaultMoves = 50
	MaxMoves     = 200
)

// Moved is a measured airing with the price of its market before and after it. A price move after an airing does not mean that
// the airing caused it.
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

// Influence contains the price moves after the airings of a window, and the moves of markets that did not air for comparison.
type Influence struct {
	Items        []Moved  // sorted by the size of the move, the largest first
	Airings      int64    // number of airings in the window whose move is known
	MeanMove     *float64 // mean absolute move of these airings in basis points; nil: no airings
	BaselineMove *float64 // mean absolute move of markets that did not air; nil: no market was sampled
}

// week is the longest window, which only this reading offers. protocol.ParseWindow defines the others.
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
