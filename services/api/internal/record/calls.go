package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Step is where the score stood when so many calls more were decided.
type Step struct {
	At           time.Time
	Score, Calls int64
}

// Course is how a score went. Before is what it was ahead of the first step, and 0
// where the course is Whole: no call is older than those that were looked at.
type Course struct {
	Steps  []Step
	Before int64
	Whole  bool
}

// Bounds of a course: it looks at the newest calls and joins neighbours.
const (
	MaxCourse = 10_000
	MaxSteps  = 120
)

// Most of what one page of calls shows.
const (
	DefaultCalls = 25
	MaxCalls     = 100
)

// Calls is a page of an operator's calls, newest first. A page that has a next one is
// not the last: it looks one call ahead. Fault: not_found.
func (s *Service) Calls(ctx context.Context, handle string, limit int, after protocol.Cursor) (signal.CallPage, error) {
	o, err := s.operators.Operator(ctx, handle, "")
	if err != nil {
		return signal.CallPage{}, err
	}
	p, err := s.store.ListCalls(ctx, signal.CallQuery{Handle: o.Handle, Limit: limit + 1, After: after})
	if err != nil || len(p.Signals) <= limit {
		p.Next = ""
		return p, err
	}
	last := p.Signals[limit-1]
	p.Signals, p.Next = p.Signals[:limit], protocol.NewCursor(last.ID, protocol.TimeKey(last.CreatedAt)).Encode()
	return p, nil
}

// Course is how the score of an operator went. Fault: not_found.
func (s *Service) Course(ctx context.Context, handle string) (Course, error) {
	o, err := s.operators.Operator(ctx, handle, "")
	if err != nil {
		return Course{}, err
	}
	return s.store.ReadCourse(ctx, o.ID, MaxCourse, MaxSteps)
}
