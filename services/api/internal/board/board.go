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

// Group names which operators a board shows.
type Group string

// The groups: human is everybody but machines; independent and house split it.
const (
	Human       Group = "human"
	All         Group = "all"
	Independent Group = "independent"
	House       Group = "house"
	Automated   Group = "automated"
)

// ParseGroup falls back to the given default.
func ParseGroup(s string, fallback Group) Group {
	switch g := Group(s); g {
	case Human, All, Independent, House, Automated:
		return g
	}
	return fallback
}

// Tiers lists the tiers of a group.
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

// Broadcast is the broadcast score and what it is made of (contract 4.8.3).
type Broadcast struct {
	Score                   int // 0-1000
	Skill, Activity, Reach  float64
	Calls28, Takes28        int64
	WindowScore, WindowDone int64
}

// Record is what one operator has called.
type Record struct{ Total, Won, Lost, Void, Score int64 }

// Query names the rows of a board: of these tiers, of one lane or (”) of the
// whole record, the first ones.
type Query struct {
	Tiers []string
	Lane  string
	Limit int
}

// Store ranks operators that have a call. month is when the 28 days begin.
type Store interface {
	// ListBoard returns the rows of a board in one of the orders.
	ListBoard(ctx context.Context, by string, q Query, month time.Time) ([]Row, error)
	// Record counts one operator's calls; zeros for one without a call.
	Record(ctx context.Context, userID string) (Record, error)
	// PulseTotals counts everything as of now.
	PulseTotals(ctx context.Context, now time.Time) (Totals, error)
	// PulseWeeks counts the calls by week from first, a Monday, to now, by the number of
	// the week, and tells when an independent operator filed last (nil: never) and how
	// many claims the last 28 days have.
	PulseWeeks(ctx context.Context, first, now time.Time) (weeks map[int]Week, last *time.Time, claims int64, err error)
	// FoldBoards makes later reads fast, by one step; done tells that nothing is left.
	FoldBoards(ctx context.Context, rows int, month time.Time) (done bool, err error)
	// FoldEdges measures up to so many rows again whose results have changed.
	FoldEdges(ctx context.Context, rows int, measure func([]skill.Tally) (Edge, error)) (done bool, err error)
}

// The orders of boards.
const (
	ByScore       = "scores"      // score, resolved, accuracy, handle
	ByBroadcast   = "broadcast"   // broadcast score of all of life, score, resolved, handle
	ByBroadcast28 = "broadcast28" // the same with the broadcast score of 28 days
	// ByEdge is the lower end of the edge, the edge, calls, handle: of operators with a decided call, as they were folded last.
	ByEdge = "edge"
)

// The longest boards; a shorter one is the head of one of these.
const (
	mostRows      = 200
	mostBroadcast = 100
)

// Service serves the boards. Concurrent reads of a board share one build.
type Service struct {
	store  Store
	now    func() time.Time
	builds cache.Flight[[]Row]
	wake   chan struct{} // a build was slow
}

// NewService wires the subject.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now, wake: make(chan struct{}, 1)}
}

// Record counts one operator's calls.
func (s *Service) Record(ctx context.Context, userID string) (Record, error) {
	return s.store.Record(ctx, userID)
}

// Took starts the next fold of results early if a read of ranks took longer than slow: reads become slow when many results are
// not folded yet.
func (s *Service) Took(d time.Duration) {
	if d <= slow {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// buildBudget bounds a build, which continues when its callers have left.
const buildBudget = 5 * time.Second

// Board returns the first limit rows of a board, ordered by ByScore, ByEdge, ByBroadcast or ByBroadcast28. They are shared with other
// callers and must not be changed. Fault: db_unavailable.
func (s *Service) Board(ctx context.Context, by string, g Group, lane string, limit int) ([]Row, error) {
	q := Query{g.Tiers(), lane, mostRows}
	if by == ByBroadcast || by == ByBroadcast28 {
		q.Limit = mostBroadcast
	}
	rows, err := s.builds.Do(ctx, by+"/"+string(g)+"/"+lane, func(ctx context.Context) ([]Row, error) {
		ctx, cancel := context.WithTimeout(ctx, buildBudget)
		defer cancel()
		begun := s.now()
		rows, err := s.store.ListBoard(ctx, by, q, s.month())
		s.Took(s.now().Sub(begun))
		for i := range rows {
			rows[i].Rank = i + 1
			rows[i].Broadcast.measure()
		}
		return rows, err
	})
	n := max(0, min(len(rows), limit))
	return rows[:n:n], err
}

// window28 is the stretch of the activity figures.
const window28 = 28 * 24 * time.Hour

func (s *Service) month() time.Time { return s.now().Add(-window28) }

const (
	foldEvery = 5 * time.Second
	foldRows  = 25_000
	// foldEdges is bounded, as who classifies an operator waits for a step.
	foldEdges = 1_000
	// foldShare is how many times the length of a step the pause after it takes at
	// least, as long as nobody reads: behind a flood of calls the rows follow later,
	// and the calls go first.
	foldShare = 19
	// foldBehind keeps the rows a little older than the window, so that a process
	// whose clock is behind still finds its own window's start ahead of them.
	foldBehind = 10 * time.Second
	// slow is the build that says the rows are too far behind.
	slow = 50 * time.Millisecond
)

// Run keeps the rows of the boards up to date until ctx ends; failed hears of each
// step that could not be done. Every process runs it: of those that fold at the same
// moment one does, and the process that reads slowly is the one that is woken.
func (s *Service) Run(ctx context.Context, failed func(error)) error {
	for {
		begun := s.now()
		done, err := s.store.FoldBoards(ctx, foldRows, s.month().Add(-foldBehind))
		if err == nil {
			var measured bool
			measured, err = s.store.FoldEdges(ctx, foldEdges, MeasureEdge)
			done = done && measured
		}
		pause := foldShare * s.now().Sub(begun)
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

// measure sets what the broadcast score is made of (contract 4.8.3). Ten phantom
// zero calls shrink small samples; reach counts the viewer minutes of 28 days, of
// which there are none before operators broadcast.
func (b *Broadcast) measure() {
	b.Skill = min(1, max(0, 0.5+float64(b.WindowScore)/(50*float64(b.WindowDone+10))))
	b.Activity = min(1, (float64(b.Calls28)+float64(b.Takes28)/2)/28)
	b.Reach = 0
}

// CastScore is the broadcast score: the definition that the store's equals.
func CastScore(score, done, calls, takes int64) int {
	b := Broadcast{Calls28: calls, Takes28: takes, WindowScore: score, WindowDone: done}
	b.measure()
	// The conversions keep each product rounded by itself on every machine.
	return int(math.Round(float64(500*b.Skill) + float64(300*b.Activity) + float64(200*b.Reach)))
}

// Edge is the measured edge of an operator, the mean of result minus price of counted calls, with its confidence interval
// (docs/method.md).
type Edge struct {
	Calls                    int64 // won and lost; 0: nothing is known
	EdgeBps, LowBps, HighBps int
}

// MeasureEdge computes an edge; the zero Edge without calls. Faults: those of package skill.
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
