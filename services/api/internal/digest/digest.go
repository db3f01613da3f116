package digest

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of a digest: the longest window, and the maximum numbers of its calls and disputed markets.
const (
	MaxSpan     = 48 * time.Hour
	MaxCalls    = 5
	MaxDisputed = 50
)

// ErrWindow is returned for a window that is empty or longer than MaxSpan.
var ErrWindow = apperr.New(apperr.Invalid, "invalid_window", "the window must start before it ends and be at most 48 hours long")

// Window is the time span of a digest, From <= t < To, and the week for which the digest counts calls.
type Window struct {
	From, To time.Time
	Week     time.Time // Monday of the last complete ISO week before To
}

// NewWindow returns the Window with the given bounds, in UTC. Error: ErrWindow if the window is empty or longer than MaxSpan.
func NewWindow(from, to time.Time) (Window, error) {
	from, to = from.UTC(), to.UTC()
	if !from.Before(to) || to.Sub(from) > MaxSpan {
		return Window{}, ErrWindow
	}
	days := (int(to.Weekday()) + 6) % 7 // since Monday
	monday := time.Date(to.Year(), to.Month(), to.Day()-days, 0, 0, 0, 0, time.UTC)
	return Window{From: from, To: to, Week: monday.AddDate(0, 0, -7)}, nil
}

// Day contains the statistics of a Window.
type Day struct {
	Signals         int64 // number of calls filed in the window
	Won, Lost, Void int64 // numbers of calls scored in the window, by result
	NewOperators    int64
	TopCalls        []Call   // won calls of ranked operators, scored in the window, best first
	Disputed        []string // ids of markets with an open dispute, newest dispute first
	Pulse           Pulse
}

// Call is a won call in a digest.
type Call struct {
	SignalID    string
	Handle      string
	MarketTitle string
	Side        protocol.Side
	Odds        protocol.Bps // scoring price of the side called
	Score       int32
}

// Pulse contains the numbers of calls of independent operators in recent periods.
type Pulse struct {
	Last7, Prev7               int64 // calls in the 7 days before the end of the window, and in the 7 days before
	WeekSignals, WeekOperators int64 // calls in the last complete week, and the operators who filed them
}

// Store reads the statistics of a Day. Error: db_unavailable.
type Store interface {
	Day(ctx context.Context, w Window) (Day, error)
}
