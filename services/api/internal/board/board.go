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

// Group selects the operators on a board by their tiers.
type Group string

// Groups of operators. Human includes Independent and House; All includes every tier.
const (
	Human       Group = "human"
	All         Group = "all"
	Independent Group = "independent"
	House       Group = "house"
	Automated   Group = "automated"
)

// ParseGroup returns the group with this name, or fallback for an unknown name.
func ParseGroup(s string, fallback Group) Group {
	switch g := Group(s); g {
	case Human, All, Independent, House, Automated:
		return g
	}
	return fallback
}

// Tiers returns the operator tiers that the group includes.
func (g Group) Tiers() []string {
	switch g {
	case Human:
		return []string{string(protocol.Independent), string(protocol.House)}
	case Independent, House, Automated:
		return []string{string(g)}
	}
	return []string{string(protocol.Independent), string(protocol.House), string(protocol.Automated)}
}

// Row is one operator on a board, with the numbers of the operator's calls.
type Row struct {
	Rank      int
	Operator  operator.Operator
	Score     int64
	Total     int64
	Won, Lost int64
	Pending   int64
	Accuracy  int // percent; see resolution.Accuracy
	Broadcast Broadcast
	Edge      Edge // zero if no call is won or lost
}

// Broadcast contains the broadcast score of an operator and the numbers from which it is computed.
type Broadcast struct {
	Score                   int // 0 to 1000
	Skill, Activity, Reach  float64
	Calls28, Takes28        int64
	ViewerMinutes28         int64
	WindowScore, WindowDone int64
}

// Record contains the numbers of one operator's calls, by status, and the score.
type Record struct{ Total, Won, Lost, Void, Score int64 }

// Query selects the first Limit rows of a board: operators of the given tiers, with their calls in one lane. An empty Lane
// selects all lanes.
type Query struct {
	Tiers []string
	Lane  string
	Limit int
}

// Store reads boards, which contain only operators with a call, and updates the stored rows of boards. month is the start of
// the window of 28 days.
type Store interface {
	// ListBoard returns the rows of a board in one of the orders ByScore, ByBroadcast, ByBroadcast28 and ByEdge.
	ListBoard(ctx context.Context, by string, q Query, month time.Time) ([]Row, error)
	// Record returns the numbers of one operator's calls. They are 0 if there is no call.
	Record(ctx context.Context, userID string) (Record, error)
	// PulseTotals returns the totals of all calls, operators and markets at the time now.
	PulseTotals(ctx context.Context, now time.Time) (Totals, error)
	// PulseWeeks counts the calls from first, a Monday, to now. The key of weeks is the number of weeks since first. last is
	// the time of the newest call of an independent operator, nil if there is none. claims is the number of resolutions in the
	// last 28 days.
	PulseWeeks(ctx context.Context, first, now time.Time) (weeks map[int]Week, last *time.Time, claims int64, err error)
	// PulsePrices counts the counted calls on venue markets by range of the scoring price, the lowest first.
	PulsePrices(ctx context.Context) ([]PriceRange, error)
	// FoldBoards adds up to rows changed results to the stored rows of the boards, so that reads are fast. done is true if no
	// changed result is left.
	FoldBoards(ctx context.Context, rows int, month time.Time) (done bool, err error)
	// FoldEdges computes the edge of up to rows stored board rows whose results have changed. done is true if none is left.
	FoldEdges(ctx context.Context, rows int, measure func([]skill.Tally) (Edge, error)) (done bool, err error)
}

// Orders of boards. Each comment lists the sort keys; handles ascend, the other keys descend.
const (
	ByScore       = "scores"      // score, resolved, accuracy, handle
	ByBroadcast   = "broadcast"   // broadcast score of all time, score, resolved, handle
	ByBroadcast28 = "broadcast28" // broadcast score of 28 days, score, resolved, handle
	// ByEdge orders by the lower bound of the edge, the edge, the number of calls and the handle. It includes only operators
	// with a decided call, as of the last FoldEdges.
	ByEdge = "edge"
)

// Maximum number of rows that are read for a board: maxBroadcast for the orders by broadcast score, else maxRows. A caller of
// Board with a smaller limit receives the first of these rows.
const (
	maxRows      = 200
	maxBroadcast = 100
)

// Service returns boards and totals, and keeps the stored rows of the boards up to date. Concurrent reads of a board share one
// query.
type Service struct {
	store  Store
	now    func() time.Time
	builds cache.Flight[[]Row]
	wake   chan struct{} // Took sends on it if a query was slow
}

// NewService returns a Service that reads from store.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now, wake: make(chan struct{}, 1)}
}

// Record returns the numbers of one operator's calls. Error: db_unavailable.
func (s *Service) Record(ctx context.Context, userID string) (Record, error) {
	return s.store.Record(ctx, userID)
}

// Took receives the duration d of a query for a board or for ranks. If d is longer than slowRead, Run updates the stored rows
// early. Such queries become slow when the stored rows lack many results.
func (s *Service) Took(d time.Duration) {
	if d <= slowRead {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// buildBudget is the time limit of the query for a board. The query continues even if all callers that wait for it have
// returned.
const buildBudget = 5 * time.Second

// Board returns the first limit rows of a board in one of the orders ByScore, ByEdge, ByBroadcast and ByBroadcast28. An empty
// lane selects all lanes. The rows are shared with other callers and must not be changed. Error: db_unavailable.
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

const window28 = 28 * 24 * time.Hour

func (s *Service) month() time.Time { return s.now().Add(-window28) }

const (
	foldEvery = 5 * time.Second
	foldRows  = 25_000
	// foldEdges is the maximum number of rows of one FoldEdges step. It is small, because a change of an operator's tier waits
	// for a running step.
	foldEdges = 1_000
	// foldShare is the minimum ratio of the pause after a step to the duration of the step, unless a read is slow. During a
	// flood of calls, the rows are updated later, so that calls have priority.
	foldShare = 19
	// foldBehind is the time by which the stored rows lag behind the start of the window. With it, a process whose clock is
	// slow still finds the start of its own window after that of the rows.
	foldBehind = 10 * time.Second
	// slowRead is the duration of a query above which the stored rows are updated early.
	slowRead = 50 * time.Millisecond
)

// Run updates the stored rows of the boards until ctx ends. It passes the error of each failed step to the function failed.
// Every process runs it. If several processes update at the same time, one of them does the work. If Took receives a long
// duration, Run starts an early update in the same process.
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

// measure computes the components Skill, Activity and Reach, each from 0 to 1. For Skill, ten calls with the score 0 are added,
// so that few calls have little effect. Reach is a fifth of the decimal logarithm of 1 plus the viewer minutes of 28 days: each
// tenfold adds 0.2, and 99,999 minutes are 1. The store computes the broadcast score from them in SQL (board_cast).
func (b *Broadcast) measure() {
	b.Skill = min(1, max(0, 0.5+float64(b.WindowScore)/(50*float64(b.WindowDone+10))))
	b.Activity = min(1, (float64(b.Calls28)+float64(b.Takes28)/2)/28)
	// Rounded to nine decimals, so that the logarithms of Go and Postgres give the same score.
	b.Reach = min(1, math.Round(math.Log10(1+float64(b.ViewerMinutes28))*1e9)/1e9/5)
}

// Edge is the measured edge of an operator in bps: the mean of result minus price over counted calls, and its confidence
// interval (docs/method.md).
type Edge struct {
	Calls                    int64 // number of won and lost calls; 0: no edge
	EdgeBps, LowBps, HighBps int
}

// ShowsSkill reports whether the whole interval is above zero, so that luck alone rarely explains the edge.
func (e Edge) ShowsSkill() bool { return e.Calls > 0 && e.LowBps > 0 }

// MeasureEdge computes the edge of calls that are grouped into tallies. Without a call, it returns the zero Edge. It returns
// an error if skill.Sample.AddTally rejects a tally.
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
