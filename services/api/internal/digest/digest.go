package digest

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of a day.
const (
	MaxSpan     = 48 * time.Hour
	MaxCalls    = 5
	MaxDisputed = 50
)

// ErrWindow is the answer to a window that is no day.
var ErrWindow = apperr.New(apperr.Invalid, "invalid_window", "from must be before to, and at most 48 hours")

// Window is from <= t < to, and what the pulse is measured over.
type Window struct {
	From, To time.Time
	Week     time.Time // Monday that begins the last complete ISO week before To
}

// NewWindow checks a window. Fault: ErrWindow.
func NewWindow(from, to time.Time) (Window, error) {
	from, to = from.UTC(), to.UTC()
	if !from.Before(to) || to.Sub(from) > MaxSpan {
		return Window{}, ErrWindow
	}
	days := (int(to.Weekday()) + 6) % 7 // since Monday
	monday := time.Date(to.Year(), to.Month(), to.Day()-days, 0, 0, 0, 0, time.UTC)
	return Window{From: from, To: to, Week: monday.AddDate(0, 0, -7)}, nil
}

// Day is what was recorded.
type Day struct {
	Signals         int64 // filed in the window
	Won, Lost, Void int64 // scored in it
	NewOperators    int64
	TopCalls        []Call   // of ranked operators, scored in it, the best score first
	Disputed        []string // markets with a dispute that stands, newest first
	Pulse           Pulse
}

// Call is a call that won.
type Call struct {
	SignalID    string
	Handle      string
	MarketTitle string
	Side        protocol.Side
	Odds        protocol.Bps // guarded price of the side called
	Score       int32
}

// Pulse counts signals of independent operators.
type Pulse struct {
	Last7, Prev7               int64 // 7 times 24 hours before the end of the window, and before that
	WeekSignals, WeekOperators int64 // in the last complete week, and who filed them
}

// Store reads a day. Fault: db_unavailable.
type Store interface {
	Day(ctx context.Context, w Window) (Day, error)
}
