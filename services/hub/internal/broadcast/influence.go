package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Limits of the list of airings.
const (
	DefaultAirings = 50
	MaxAirings     = 200
)

// Week is a window beside those of the wire.
const Week = "7d"

// ParseSpan reads a window of airings; anything unknown is 24 hours.
func ParseSpan(raw string) string {
	if raw == Week {
		return raw
	}
	return string(syntax.ParseWindow(raw))
}

// Airing is a segment that aired, with the price of its market at its start and ten
// minutes after its end.
type Airing struct {
	SegmentID     string
	MarketID      syntax.MarketID
	Title         string
	Lane          syntax.Lane
	AiredAt       time.Time
	EndedAt       time.Time
	Before, After int32 // bps of YES
	Signals       *int64
	ViewersPeak   int32
	MeasuredAt    time.Time
}

// Influence is the airings of a window, beside markets that did not air.
type Influence struct {
	Items     []Airing // the largest move first
	Airings   int64    // all of the window
	Mean      *float64 // bps without signs; nil: none
	Baseline  *float64
	UpdatedAt time.Time
}

// Influences is the clock's record of them. Fault: db_unavailable.
type Influences interface {
	Influence(ctx context.Context, window string, limit int) (Influence, error)
}

// Influence reads the record; without a clock nothing aired.
func (s *Service) Influence(ctx context.Context, window string, limit int) (Influence, error) {
	if s.Influences == nil {
		return Influence{UpdatedAt: s.Now()}, nil
	}
	return s.Influences.Influence(ctx, window, limit)
}
