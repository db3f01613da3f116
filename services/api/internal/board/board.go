package board

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Group is a group of operators that a board shows.
type Group string

// Groups of operators. Human is the union of Independent and House.
const (
	Human       Group = "human"
	All         Group = "all"
	Independent Group = "independent"
	House       Group = "house"
	Automated   Group = "automated"
)

// ParseGroup returns the group with a name, or fallback for an unknown name.
func ParseGroup(s string, fallback Group) Group {
	switch g := Group(s); g {
	case Human, All, Independent, House, Automated:
		return g
	}
	return fallback
}

// Tiers returns the tiers of a group.
func (g Group) Tiers() []string {
	switch g {
	case Human:
		return []string{string(protocol.Independent), string(protocol.House)}
	case Independent, House, Automated:
		return []string{string(g)}
	}
	return []string{string(protocol.Independent), string(protocol.House), string(protocol.Automated)}
}

// Row is one operator on a board.
type Row struct {
	Rank      int
	Operator  operator.Operator
	Score     int64
	Total     int64
	Won, Lost int64
	Pending   int64
	Accuracy  int
	Broadcast Broadcast
	Edge      Edge // zero without a decided call
}

// Broadcast is the broadcast score and its components.
type Broadcast struct {
	Score                   int // 0-1000
	Skill, Activity, Reach  float64
	Calls28, Takes28        int64
	WindowScore, WindowDone int64
}

// Record contains the counters of one operator.
type Record struct{ Total, Won, Lost, Void, Score int64 }

// Query selects the first rows of a board of the given tiers, of one lane or, if Lane is empty, of all lanes.
type Query struct {
	Tiers []string
	Lane  string
	Limit int
}

// Store ranks operators that have a call. month is the start of the window of 28 days.
type Store interface {
	// ListBoard returns the rows of a board; by is one of the orders ByScore, ByBroadcast, ByBroadcast28 and ByEdge.
	ListBoard(ctx context.Context, by string, q Query, month time.Time) ([]Row, error)
	// Record returns the counters of one operator; zeros without a call.
	Record(ctx context.Context, userID string) (Record, error)
	// PulseTotals returns the totals at a time.
	PulseTotals(ctx context.Context, now time.Time) (Totals, error)
	// PulseWeeks counts the calls from first, a Monday, to now by the index of the week. last is the time of the newest call
	// of an independent operator, nil without one; claims is the number of resolutions in the last 28 days.
	PulseWeeks(ctx context.Context, first, now time.Time) (weeks map[int]Week, last *time.Time, claims int64, err error)
	// FoldBoards adds changed results to the stored rows of the boards, at most rows of them, to make reads fast. done
	// reports that none is left.
	FoldBoards(ctx context.Context, rows int, month time.Time) (done bool, err error)
	// FoldEdges computes the edge of up to rows board rows whose results have changed. done reports that none is left.
	FoldEdges(ctx context.Context, rows int, measure func([]skill.Tally) (Edge, error)) (done bool, err error)
}

// Orders of boards.
const (
	ByScore       = "scores"      // score, resolved, accuracy, handle
	ByBroadcast   = "broadcast"   // broadcast score of all time, score, resolved, handle
	ByBroadcast28 = "broadcast28" // the same, with the broadcast score of 28 days
	// ByEdge orders by the lower end of the edge, the edge, calls and handle. It includes operators with a decided call, as
	// of the last FoldEdges.
	ByEdge = "edge"
)

// Maximum lengths of boards. A shorter board is the start of such a board.
const (
	maxRows      = 200
	maxBroadcast = 100
)

// Service returns boards. Concurrent reads of a board share one query.
type Service struct {
	store  Store
	now    func() time.Time
	builds cache.Flight[[]Row]
	wake   chan struct{} // signals that a query was slow
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now, wake: make(chan struct{}, 1)}
}

// Record returns the counters of one operator.
func (s *Service) Record(ctx context.Context, userID string) (Record, error) {
	return s.store.Record(ctx, userID)
}

// Took starts the next fold of results early if a read of ranks took longer than slowRead: reads become slow when many
// results are not folded yet.
func (s *Service) Took(d time.Duration) {
	if d <= slowRead {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// buildBudget limits a query, which continues when its callers have left.
const buildBudget = 5 * time.Second

// Board returns the first limit rows of a board, ordered by ByScore, ByEdge, ByBroadcast or ByBroadcast28. The rows are
// shared with other callers and must not be changed. Error: db_unavailable.
func (s *Service) Board(ctx context.Context, by string, g Group, lane string, limit int) ([]Row, error) {
	q := Query{g.Tiers(), lane, maxRows}
	if by == ByBroadcast || by == ByBroadcast28 {
		q.Limit = maxBroadcast
	}
	rows, err := s.builds.Do(ctx, by+"/"+string(g)+"/"+lane, func(ctx context.Context) ([]Row, error) {
		ctx, cancel := context.WithTimeout(ctx, buildBudget)
		defer cancel()
		start := s.now()
		rows, err := s.store.ListBoard(ctx, by, q, s.month())
		s.Took(s.now().Sub(start))
		for i := range rows {
			rows[i].Rank = i + 1
			rows[i].Broadcast.measure()
		}
		return rows, err
	})
	n := max(0, min(len(rows), limit))
	return rows[:n:n], err
}

// window28 is the window of the activity figures.
const window28 = 28 * 24 * time.Hour

func (s *Service) month() time.Time { return s.now().Add(-window28) }

const (
	foldEvery = 5 * time.Second
	foldRows  = 25_000
	// foldEdges is small, because a change of an operator's tier waits for a running step.
	foldEdges = 1_000
	// foldShare is the minimum ratio of the pause after a step to its duration while reads are fast. During a flood of calls,
	// the rows are updated later, so that the calls have priority.
	foldShare = 19
	// foldBehind is the lag of the stored rows behind the start of the window. A process whose clock is slow still finds the
	// start of its own window ahead of the rows.
	foldBehind = 10 * time.Second
	// slowRead is the duration of a query above which the rows are updated early.
	slowRead = 50 * time.Millisecond
)

// Run updates the stored rows of the boards until ctx ends, and calls failed for each step that failed. Every process runs
// it. If several processes update at the same time, one of them does the work, and a slow read wakes the Run of its own
// process.
func (s *Service) Run(ctx context.Context, failed func(error)) error {
	for {
		start := s.now()
		done, err := s.store.FoldBoards(ctx, foldRows, s.month().Add(-foldBehind))
		if err == nil {
			var measured bool
			measured, err = s.store.FoldEdges(ctx, foldEdges, MeasureEdge)
			done = done && measured
		}
		pause := foldShare * s.now().Sub(start)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if done || err != nil {
			pause = max(pause, foldEvery)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		case <-s.wake:
		}
	}
}

// measure computes the components of the broadcast score. Ten additional calls of score 0 reduce the skill
// of small samples. Reach counts viewer minutes of 28 days; it is 0, because none are recorded.
func (b *Broadcast) measure() {
	b.Skill = min(1, max(0, 0.5+float64(b.WindowScore)/(50*float64(b.WindowDone+10))))
	b.Activity = min(1, (float64(b.Calls28)+float64(b.Takes28)/2)/28)
	b.Reach = 0
}

// CastScore returns the broadcast score from 0 to 1000. The store computes the same value in SQL.
func CastScore(score, done, calls, takes int64) int {
	b := Broadcast{Calls28: calls, Takes28: takes, WindowScore: score, WindowDone: done}
	b.measure()
	// The conversions force each product to be rounded separately, so that the result is the same on every machine.
	return int(math.Round(float64(500*b.Skill) + float64(300*b.Activity) + float64(200*b.Reach)))
}

// Edge is the measured edge of an operator, the mean of result minus price of counted calls, with its confidence interval
// (docs/method.md).
type Edge struct {
	Calls                    int64 // won and lost calls; 0: no edge
	EdgeBps, LowBps, HighBps int
}

// MeasureEdge computes an edge; the zero Edge without calls. Errors: those of package skill.
func MeasureEdge(tallies []skill.Tally) (Edge, error) {
	var sample skill.Sample
	for _, t := range tallies {
		if err := sample.AddTally(t); err != nil {
			return Edge{}, err
		}
	}
	r, some := sample.Report()
	if !some {
		return Edge{}, nil
	}
	return Edge{Calls: r.Calls, EdgeBps: r.EdgeBps, LowBps: r.LowBps, HighBps: r.HighBps}, nil
}
