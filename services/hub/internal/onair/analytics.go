package onair

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// MaxSteps is how many steps a series has at most.
const MaxSteps = 672

// Window is a stretch of time up to now, with the step of its series.
type Window struct {
	Name string
	Span time.Duration
	Step time.Duration
}

// windows are those that may be asked for; the first is meant when another one is.
var windows = [...]Window{
	{"24h", 24 * time.Hour, time.Minute},
	{"7d", 7 * 24 * time.Hour, 10 * time.Minute},
	{"28d", 28 * 24 * time.Hour, time.Hour},
}

// ParseWindow reads a window; an unknown one is a day.
func ParseWindow(raw string) Window {
	for _, w := range windows {
		if w.Name == raw {
			return w
		}
	}
	return windows[0]
}

// Step is how many watched in one step of a series, rounded.
type Step struct {
	At      time.Time
	Viewers int64
}

// Stretch is what samples and sessions of a time come to.
type Stretch struct {
	Sessions int64
	Live     time.Duration
	Peak     int64
	Watched
}

// Analytics is how the sessions of an operator were watched.
type Analytics struct {
	Window Window
	Stretch
	ViewerMinutes int64
	Signals       int64 // MaxCounted at most
	Around
	OverlaySets int64
	Series      []Step // oldest first: steps with a session alone, the newest MaxSteps
}

// Analytics measures the sessions of an operator. Faults: not_found, db_unavailable,
// those of the ledger.
func (s *Service) Analytics(ctx context.Context, handle syntax.Handle, w Window) (Analytics, error) {
	now := s.now()
	from, out := now.Add(-w.Span), Analytics{Window: w}
	who, err := s.directory.OperatorByHandle(ctx, handle)
	if err != nil {
		return out, err
	}
	calls, err := s.calls(ctx, handle, from, now, MaxCounted)
	if err != nil {
		return out, err
	}
	out.Signals = int64(len(calls))
	if out.Stretch, err = s.store.Stretch(ctx, handle, from, now); err != nil {
		return out, err
	}
	// A sample stands for the time between two.
	out.ViewerMinutes = int64(time.Duration(out.Viewers) * SampleEvery / time.Minute)
	if out.Around, err = s.store.Around(ctx, handle, who.ID, from, now); err != nil {
		return out, err
	}
	if out.OverlaySets, err = s.store.OverlaySets(ctx, handle, from); err != nil {
		return out, err
	}
	out.Series, err = s.store.Series(ctx, handle, from, w.Step, MaxSteps)
	return out, err
}
