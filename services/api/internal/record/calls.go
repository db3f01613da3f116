package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Step is a point of a ScoreHistory. Score is the score of the operator after a group of calls was decided. Calls is the
// number of calls in the group, and Variance is the sum of p (10000 - p) of their scoring prices p in bps.
type Step struct {
	At                     time.Time
	Score, Calls, Variance int64
}

// ScoreHistory is the history of a score. Whole is true if it includes the oldest call. Before is the score before the first
// step; it is 0 if Whole is true.
type ScoreHistory struct {
	Steps  []Step
	Before int64
	Whole  bool
}

// Limits of a history: the number of newest calls that it includes, and the number of steps into which they are grouped.
const (
	MaxHistoryCalls = 10_000
	MaxSteps        = 120
)

// Default and maximum number of calls in one page.
const (
	DefaultCalls = 25
	MaxCalls     = 100
)

// Calls returns a page of up to q.Limit calls of the operator q.Handle, newest first. It reads one call more to detect whether
// another page follows. Errors: not_found, db_unavailable.
func (s *Service) Calls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error) {
	o, err := s.operators.Operator(ctx, q.Handle, "")
	if err != nil {
		return signal.CallPage{}, err
	}
	limit := q.Limit
	q.Handle, q.Limit = o.Handle, limit+1
	p, err := s.store.ListCalls(ctx, q)
	if err != nil || len(p.Signals) <= limit {
		return p, err
	}
	last := p.Signals[limit-1]
	p.Signals, p.Next = p.Signals[:limit], protocol.NewCursor(last.ID, protocol.TimeKey(last.CreatedAt)).Encode()
	return p, nil
}

// ScoreHistory returns the history of an operator's score. Errors: not_found, db_unavailable.
func (s *Service) ScoreHistory(ctx context.Context, handle string) (ScoreHistory, error) {
	o, err := s.operators.Operator(ctx, handle, "")
	if err != nil {
		return ScoreHistory{}, err
	}
	return s.store.ReadScoreHistory(ctx, o.ID, MaxHistoryCalls, MaxSteps)
}
