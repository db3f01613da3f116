package livestream

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// Maximum numbers of calls that are read: for a recap, for statistics, and per request to the ledger.
const (
	MaxReceipts = 500
	MaxCounted  = 5000
	callPage    = 100
)

// ErrNoShow is returned for a session id that is unknown or belongs to another operator.
var ErrNoShow = apperr.New(apperr.NotFound, "not_found", "the operator has no live session with this id")

// Activity counts the new clips, clip views and new followers of an operator in a period.
type Activity struct {
	Clips, ClipViews, Followers int64
}

// Watched is the sum of the viewers in a number of samples, and the number of samples.
type Watched struct{ Viewers, Samples int64 }

// Average returns the mean number of viewers per sample, rounded. It returns 0 without samples.
func (w Watched) Average() int64 {
	if w.Samples == 0 {
		return 0
	}
	return int64(math.Round(float64(w.Viewers) / float64(w.Samples)))
}

// Best is the won call with the highest score in a session.
type Best struct {
	SignalID string
	Odds     protocol.Bps
	Score    int32
}

// Top is the market with the most calls in a session, or the market of the overlay signal if there are no calls.
type Top struct {
	MarketID protocol.MarketID
	Title    string // title that the ledger stores; empty for the market of the overlay
}

// Recap is the summary of a live session. Count, Won, Lost, Void, Pending and Score cover only the calls in Calls.
type Recap struct {
	Session   Session // session in its current state
	Length    time.Duration
	Peak, Avg int64
	Calls     []*signalv1.Signal // newest first, at most MaxReceipts
	Count     int64
	Won, Lost int64
	Void      int64
	Pending   int64
	Score     int64
	Activity
	Best *Best
	Top  *Top
}

// Recap returns the summary of the operator's session with this id, or of the newest session if showID is empty. It returns nil
// if the operator has no session. Errors: ErrNoShow, db_unavailable, those of the ledger.
func (s *Service) Recap(ctx context.Context, handle protocol.Handle, showID string) (*Recap, error) {
	session, found, err := s.session(ctx, handle, showID)
	if err != nil || !found {
		return nil, err
	}
	now := s.Now()
	out := &Recap{Session: session, Length: session.Length(now), Peak: session.Peak}
	until := cmp.Or(session.EndedAt, now)
	if out.Calls, err = s.Calls(ctx, session, MaxReceipts); err != nil {
		return nil, err
	}
	op, err := s.People.ByHandle(ctx, handle)
	if err != nil {
		return nil, err
	}
	watched, err := s.Store.SessionWatched(ctx, session.ID)
	if err != nil {
		return nil, err
	}
	if out.Activity, err = s.Store.Activity(ctx, handle, op.ID, session.StartedAt, until); err != nil {
		return nil, err
	}
	out.Avg = watched.Average()
	out.add()
	if out.Top == nil {
		out.Top, err = s.overlayMarket(ctx, session)
	}
	return out, err
}

// Audience is the number of viewers of a session in steps of the same length.
type Audience struct {
	Step  time.Duration
	Steps []Step // with a part in the session, oldest first
}

// maxAudience is the maximum number of steps of an Audience.
const maxAudience = 120

// Audience returns the viewers of an ended session. Error: db_unavailable.
func (s *Service) Audience(ctx context.Context, session Session) (a Audience, err error) {
	length := session.EndedAt.Sub(session.StartedAt)
	a.Step = (length / maxAudience).Truncate(time.Minute) + time.Minute
	steps, err := s.Store.Series(ctx, session.Handle, session.StartedAt.Truncate(time.Minute), a.Step, MaxSteps)
	for _, one := range steps {
		if !one.At.Add(a.Step).Before(session.StartedAt) && !one.At.After(session.EndedAt) {
			a.Steps = append(a.Steps, one)
		}
	}
	return a, err
}

func (s *Service) session(ctx context.Context, handle protocol.Handle, showID string) (Session, bool, error) {
	if showID == "" {
		return s.Last(ctx, handle)
	}
	found, ok, err := s.Store.Find(ctx, handle, showID)
	if err == nil && !ok {
		err = ErrNoShow
	}
	return found.At(s.Now()), ok, err
}

// Calls returns the newest calls that an operator filed during a session, newest first. most is the maximum number of calls.
// Errors: those of the ledger.
func (s *Service) Calls(ctx context.Context, session Session, most int) ([]*signalv1.Signal, error) {
	return s.calls(ctx, session.Handle, session.StartedAt, cmp.Or(session.EndedAt, s.Now()), most)
}

// calls returns the newest calls that an operator filed in the period between from and to, newest first. most is the
// maximum number of calls.
func (s *Service) calls(ctx context.Context, handle protocol.Handle, from, to time.Time, most int) ([]*signalv1.Signal, error) {
	var out []*signalv1.Signal
	cursor := protocol.NewCursor("ffffffff-ffff-ffff-ffff-ffffffffffff", protocol.TimeKey(to)).Encode()
	for {
		r, err := s.Records.ListCalls(ctx, &recordv1.ListCallsRequest{
			Handle: string(handle), Limit: int32(min(callPage, most)), Cursor: cursor,
		})
		if err != nil {
			return nil, err
		}
		for _, call := range r.GetSignals() {
			filed := ledgerclient.Time(call.GetCreatedAt())
			if filed.Before(from) {
				return out, nil
			}
			if !filed.After(to) {
				out = append(out, call)
			}
			if len(out) == most {
				return out, nil
			}
		}
		if cursor = r.GetNextCursor(); cursor == "" {
			return out, nil
		}
	}
}

// add computes the totals, Best and Top from r.Calls. Score and Best include only counted calls.
func (r *Recap) add() {
	markets := map[protocol.MarketID]int{}
	r.Count = int64(len(r.Calls))
	for _, c := range r.Calls {
		status := protocol.SignalStatus(c.GetStatus())
		switch status {
		case protocol.Won:
			r.Won++
		case protocol.Lost:
			r.Lost++
		case protocol.Void:
			r.Void++
		default:
			r.Pending++
		}
		if c.Score != nil && c.GetCounted() {
			r.Score += int64(c.GetScore())
			if status == protocol.Won && (r.Best == nil || c.GetScore() > r.Best.Score) {
				r.Best = &Best{SignalID: c.GetId(), Odds: protocol.Bps(c.GetScoreBasisBps()), Score: c.GetScore()}
			}
		}
		id := protocol.MarketID(c.GetMarketId())
		if markets[id]++; r.Top == nil || markets[id] > markets[r.Top.MarketID] {
			r.Top = &Top{MarketID: id, Title: c.GetMarketTitle()}
		}
	}
}

// overlayMarket returns the market of the operator's overlay signal: the current signal, or the last one of an ended session. It
// returns nil if there is no signal.
func (s *Service) overlayMarket(ctx context.Context, session Session) (*Top, error) {
	if session.EndedAt.IsZero() {
		o, set, err := s.Overlay(ctx, session.Handle)
		if err != nil || !set {
			return nil, err
		}
		return &Top{MarketID: o.MarketID}, nil
	}
	if session.Signal == nil {
		return nil, nil
	}
	return &Top{MarketID: session.Signal.MarketID}, nil
}

// MaxSteps is the maximum number of steps in a series of viewer numbers.
const MaxSteps = 672

// Window is a period that ends now. Step is the length of one step in the series of viewer numbers.
type Window struct {
	Name string
	Span time.Duration
	Step time.Duration
}

// windows lists the windows that a request can select. The first one is the default.
var windows = [...]Window{
	{"24h", 24 * time.Hour, time.Minute},
	{"7d", 7 * 24 * time.Hour, 10 * time.Minute},
	{"28d", 28 * 24 * time.Hour, time.Hour},
}

// ParseWindow returns the window with this name. It returns the window of 24 hours for an unknown name.
func ParseWindow(raw string) Window {
	for _, w := range windows {
		if w.Name == raw {
			return w
		}
	}
	return windows[0]
}

// Step is the mean number of viewers in one step of a series, rounded. At is the start of the step.
type Step struct {
	At      time.Time
	Viewers int64
}

// Totals holds the totals of an operator's sessions and viewer samples in a period.
type Totals struct {
	Sessions int64
	Live     time.Duration
	Peak     int64
	Watched
}

// Analytics contains audience statistics of an operator's sessions in a window.
type Analytics struct {
	Window Window
	Totals
	ViewerMinutes int64
	Signals       int64 // number of calls, at most MaxCounted
	Activity
	OverlaySets int64
	Series      []Step // newest MaxSteps steps with a session, oldest first
}

// Analytics returns audience statistics of an operator's sessions in a window. Errors: not_found, db_unavailable, those of the
// ledger.
func (s *Service) Analytics(ctx context.Context, handle protocol.Handle, w Window) (Analytics, error) {
	now := s.Now()
	from, out := now.Add(-w.Span), Analytics{Window: w}
	op, err := s.People.ByHandle(ctx, handle)
	if err != nil {
		return out, err
	}
	calls, err := s.calls(ctx, handle, from, now, MaxCounted)
	if err != nil {
		return out, err
	}
	out.Signals = int64(len(calls))
	if out.Totals, err = s.Store.Totals(ctx, handle, from, now); err != nil {
		return out, err
	}
	// Each sample represents the time until the next sample.
	out.ViewerMinutes = int64(time.Duration(out.Viewers) * SampleEvery / time.Minute)
	if out.Activity, err = s.Store.Activity(ctx, handle, op.ID, from, now); err != nil {
		return out, err
	}
	if out.OverlaySets, err = s.Store.OverlaySets(ctx, handle, from); err != nil {
		return out, err
	}
	out.Series, err = s.Store.Series(ctx, handle, from, w.Step, MaxSteps)
	return out, err
}
