package onair

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Bounds of what is read of somebody's calls.
const (
	MaxReceipts = 500
	MaxCounted  = 5000
	callPage    = 100
)

// ErrNoShow is the answer for a session that is not there, or not of this operator.
var ErrNoShow = fault.New(fault.NotFound, "not_found", "")

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
	Calls     []*signalv1.Signal // newest first, at most MaxReceipts
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

// calls returns the calls that were filed from one time up to another, newest first.
func (s *Service) calls(ctx context.Context, handle syntax.Handle, from, to time.Time, most int) ([]*signalv1.Signal, error) {
	var out []*signalv1.Signal
	cursor := syntax.NewCursor("ffffffff-ffff-ffff-ffff-ffffffffffff", syntax.TimeKey(to)).Encode()
	for {
		r, err := s.records.ListCalls(ctx, &recordv1.ListCallsRequest{Handle: string(handle), Limit: callPage, Cursor: cursor})
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

// add counts the calls. Points and the best call are of those that count.
func (r *Recap) add() {
	markets := map[syntax.MarketID]int{}
	r.Count = int64(len(r.Calls))
	for _, c := range r.Calls {
		status := syntax.SignalStatus(c.GetStatus())
		switch status {
		case syntax.Won:
			r.Won++
		case syntax.Lost:
			r.Lost++
		case syntax.Void:
			r.Void++
		default:
			r.Pending++
		}
		if c.Score != nil && c.GetCounted() {
			r.Score += int64(c.GetScore())
			if status == syntax.Won && (r.Best == nil || c.GetScore() > r.Best.Score) {
				r.Best = &Best{SignalID: c.GetId(), Odds: syntax.Bps(c.GetScoreBasisBps()), Score: c.GetScore()}
			}
		}
		id := syntax.MarketID(c.GetMarketId())
		if markets[id]++; r.Top == nil || markets[id] > markets[r.Top.MarketID] {
			r.Top = &Top{MarketID: id, Title: c.GetMarketTitle()}
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
