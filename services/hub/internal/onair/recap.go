package onair

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Bounds of what is read of somebody's calls.
const (
	MaxReceipts = 500
	MaxCounted  = 5000
	callPage    = 100
)

// ErrNoShow is the answer for a session that is not there, or not of this operator.
var ErrNoShow = fault.New(fault.NotFound, "not_found", "")

// Calls reads what an operator called. Faults: not_found, those of the ledger.
type Calls interface {
	// CallsBefore is a page of calls, newest first; a cursor that is none begins at
	// the newest. next is empty at the end.
	CallsBefore(ctx context.Context, handle syntax.Handle, limit int, cursor string) (list []signal.Signal, next string, err error)
}

// Directory finds operators. Fault: not_found.
type Directory interface {
	OperatorByHandle(ctx context.Context, handle syntax.Handle) (operator.Operator, error)
}

// Around is what happened around the sessions of an operator in some time.
type Around struct {
	Clips, ClipViews, Followers int64
}

// Watched adds up samples of viewers.
type Watched struct{ Viewers, Samples int64 }

// Average is how many watched at a moment, rounded.
func (w Watched) Average() int64 {
	if w.Samples == 0 {
		return 0
	}
	return int64(math.Round(float64(w.Viewers) / float64(w.Samples)))
}

// Best is the won call with the highest score.
type Best struct {
	SignalID string
	Odds     syntax.Bps
	Score    int32
}

// Top is a market of a session.
type Top struct {
	MarketID syntax.MarketID
	Title    string // the ledger's; empty for the market of an overlay
}

// Recap is what came of a session.
type Recap struct {
	Session   Session // as it stands now
	Length    time.Duration
	Peak, Avg int64
	Calls     []signal.Signal // newest first, at most MaxReceipts
	Count     int64
	Won, Lost int64
	Void      int64
	Pending   int64
	Score     int64
	Around
	Best *Best
	Top  *Top
}

// Recap is what came of a session of an operator: of the one that is named, else of the
// newest. nil: there was none. Faults: ErrNoShow, db_unavailable, those of the ledger.
func (s *Service) Recap(ctx context.Context, handle syntax.Handle, showID string) (*Recap, error) {
	session, found, err := s.session(ctx, handle, showID)
	if err != nil || !found {
		return nil, err
	}
	now := s.now()
	out := &Recap{Session: session, Length: session.Length(now), Peak: session.Peak}
	until := now
	if !session.EndedAt.IsZero() {
		until = session.EndedAt
	}
	if out.Calls, err = s.calls(ctx, handle, session.StartedAt, until, MaxReceipts); err != nil {
		return nil, err
	}
	who, err := s.directory.OperatorByHandle(ctx, handle)
	if err != nil {
		return nil, err
	}
	watched, err := s.store.SessionWatched(ctx, session.ID)
	if err != nil {
		return nil, err
	}
	if out.Around, err = s.store.Around(ctx, handle, who.ID, session.StartedAt, until); err != nil {
		return nil, err
	}
	out.Avg = watched.Average()
	out.add()
	if out.Top == nil {
		out.Top, err = s.spokenOf(ctx, session)
	}
	return out, err
}

func (s *Service) session(ctx context.Context, handle syntax.Handle, showID string) (Session, bool, error) {
	if showID == "" {
		return s.Last(ctx, handle)
	}
	found, ok, err := s.store.Find(ctx, handle, showID)
	if err == nil && !ok {
		err = ErrNoShow
	}
	return found.At(s.now()), ok, err
}

// calls are those that were filed from one time up to another, newest first.
func (s *Service) calls(ctx context.Context, handle syntax.Handle, from, to time.Time, most int) ([]signal.Signal, error) {
	var out []signal.Signal
	cursor := syntax.NewCursor("ffffffff-ffff-ffff-ffff-ffffffffffff", syntax.TimeKey(to)).Encode()
	for {
		list, next, err := s.ledger.CallsBefore(ctx, handle, callPage, cursor)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if list[i].CreatedAt.Before(from) {
				return out, nil
			}
			if !list[i].CreatedAt.After(to) {
				out = append(out, list[i])
			}
			if len(out) == most {
				return out, nil
			}
		}
		if cursor = next; cursor == "" {
			return out, nil
		}
	}
}

// add counts the calls. Points and the best call are of those that count.
func (r *Recap) add() {
	markets := map[syntax.MarketID]int{}
	r.Count = int64(len(r.Calls))
	for i := range r.Calls {
		c := &r.Calls[i]
		switch c.Status {
		case syntax.Won:
			r.Won++
		case syntax.Lost:
			r.Lost++
		case syntax.Void:
			r.Void++
		default:
			r.Pending++
		}
		if c.Score != nil && c.Counted != nil && *c.Counted {
			r.Score += int64(*c.Score)
			if c.Status == syntax.Won && (r.Best == nil || *c.Score > r.Best.Score) {
				r.Best = &Best{SignalID: c.ID, Odds: c.ScoreBasis, Score: *c.Score}
			}
		}
		if markets[c.MarketID]++; r.Top == nil || markets[c.MarketID] > markets[r.Top.MarketID] {
			r.Top = &Top{MarketID: c.MarketID, Title: c.MarketTitle}
		}
	}
}

// spokenOf is the market of the signal over the picture: of this moment, or of the end.
func (s *Service) spokenOf(ctx context.Context, session Session) (*Top, error) {
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
