package board

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
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
		return []string{string(syntax.Independent), string(syntax.House)}
	case Independent, House, Automated:
		return []string{string(g)}
	}
	return []string{string(syntax.Independent), string(syntax.House), string(syntax.Automated)}
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
	Broadcast *Broadcast
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
	// ListScores ranks by score, resolved, accuracy, handle.
	ListScores(ctx context.Context, q Query, month time.Time) ([]Row, error)
	// ListBroadcast ranks by broadcast score, score, resolved, handle; within28 takes
	// the scores of 28 days instead of all of life.
	ListBroadcast(ctx context.Context, q Query, within28 bool, month time.Time) ([]Row, error)
	// ListEdge ranks operators with a decided call by the lower end of their edge, edge,
	// calls, handle: all as they were folded last.
	ListEdge(ctx context.Context, q Query) ([]Row, error)
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

// The longest boards; a shorter one is the head of one of these.
const (
	mostScores    = 200
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

// Scores is the board of the API host.
func (s *Service) Scores(ctx context.Context, g Group, lane string, limit int) ([]Row, error) {
	return s.build(ctx, "scores/"+string(g)+"/"+lane, limit, func(ctx context.Context) ([]Row, error) {
		return s.store.ListScores(ctx, Query{g.Tiers(), lane, mostScores}, s.month())
	})
}

// Record counts one operator's calls.
func (s *Service) Record(ctx context.Context, userID string) (Record, error) {
	return s.store.Record(ctx, userID)
}

// BroadcastBoard is the board of the hub; window is "28d" or everything.
func (s *Service) BroadcastBoard(ctx context.Context, g Group, lane, window string, limit int) ([]Row, error) {
	within28 := window == "28d"
	key := "all/"
	if within28 {
		key = "28d/"
	}
	return s.build(ctx, key+string(g)+"/"+lane, limit, func(ctx context.Context) ([]Row, error) {
		rows, err := s.store.ListBroadcast(ctx, Query{g.Tiers(), lane, mostBroadcast}, within28, s.month())
		for i := range rows {
			rows[i].Broadcast.measure()
		}
		return rows, err
	})
}

// EdgeBoard is either board in the order of the edge, with what both show.
func (s *Service) EdgeBoard(ctx context.Context, g Group, lane string, limit int) ([]Row, error) {
	return s.build(ctx, "edge/"+string(g)+"/"+lane, limit, func(ctx context.Context) ([]Row, error) {
		rows, err := s.store.ListEdge(ctx, Query{g.Tiers(), lane, mostScores})
		for i := range rows {
			rows[i].Broadcast.measure()
		}
		return rows, err
	})
}

// Took hears how long a read of ranks took, here or elsewhere, and wakes the fold when the
// rows are too far behind.
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

// build returns the first limit rows of a board. They are shared with other callers and must not be changed.
func (s *Service) build(ctx context.Context, key string, limit int, list func(context.Context) ([]Row, error)) ([]Row, error) {
	rows, err := s.builds.Do(ctx, key, func(ctx context.Context) ([]Row, error) {
		ctx, cancel := context.WithTimeout(ctx, buildBudget)
		defer cancel()
		begun := s.now()
		rows, err := list(ctx)
		s.Took(s.now().Sub(begun))
		for i := range rows {
			rows[i].Rank = i + 1
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
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		case <-s.wake:
			t.Stop()
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

// ByEdge is the order of a board by the lower end of the edge.
const ByEdge = "edge"

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
