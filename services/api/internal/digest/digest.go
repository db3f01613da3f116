package digest

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of a digest.
const (
	MaxSpan     = 48 * time.Hour
	MaxCalls    = 5
	MaxDisputed = 50
)

// ErrWindow is returned for an invalid window.
var ErrWindow = apperr.New(apperr.Invalid, "invalid_window", "from must be before to, and at most 48 hours")

// Window is the time from <= t < to of a digest, and the week of its pulse.
type Window struct {
	From, To time.Time
	Week     time.Time // Monday of the last complete ISO week before To
}

// NewWindow returns a valid window. Error: ErrWindow.
func NewWindow(from, to time.Time) (Window, error) {
	from, to = from.UTC(), to.UTC()
	if !from.Before(to) || to.Sub(from) > MaxSpan {
		return Window{}, ErrWindow
	}
	days := (int(to.Weekday()) + 6) % 7 // since Monday
	monday := time.Date(to.Year(), to.Month(), to.Day()-days, 0, 0, 0, 0, time.UTC)
	return Window{From: from, To: to, Week: monday.AddDate(0, 0, -7)}, nil
}

// Day contains the figures of a window.
type Day struct {
	Signals         int64 // filed in the window
	Won, Lost, Void int64 // scored in the window
	NewOperators    int64
	TopCalls        []Call   // of ranked operators, scored in the window, best score first
	Disputed        []string // markets with an open dispute, newest first
	Pulse           Pulse
}

// Call is a won call.
type Call struct {
	SignalID    string
	Handle      string
	MarketTitle string
	Side        protocol.Side
	Odds        protocol.Bps // scoring price of the side called
	Score       int32
}

// Pulse counts calls of independent operators.
type Pulse struct {
	Last7, Prev7               int64 // in the 7 days before the end of the window, and in the 7 days before those
	WeekSignals, WeekOperators int64 // in the last complete week: calls, and operators who filed them
}

// Store reads the figures of a day. Error: db_unavailable.
type Store interface {
	Day(ctx context.Context, w Window) (Day, error)
}
