package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Stats contains the counters of an operator.
type Stats struct {
	Total, Won, Lost, Void int64
	Score, Streak          int64
	AvgCLV                 *int // bps; nil without a closing line
}

// Best is the won call with the lowest scoring price.
type Best struct {
	SignalID, MarketID, MarketTitle string
	Odds                            protocol.Bps
}

// Moment is a call that was won at long odds.
type Moment struct {
	ID, Tier                        string
	SignalID, MarketID, MarketTitle string
	Side                            protocol.Side
	Odds                            protocol.Bps
	Score                           int
	MintedAt                        time.Time
}

// Record is the record of one operator.
type Record struct {
	Operator  operator.Operator
	Stats     Stats
	Rank      *int64 // nil without a decided call, and for automated operators
	Field     int64  // number of ranked operators
	Broadcast int    // broadcast score of all time
	Best      *Best
	Recent    []signal.Record // newest first
	Moments   []Moment        // newest first
}

// Ranked is one operator in the order of ranks.
type Ranked struct {
	Rank     int64
	Operator operator.Operator
	Stats    Stats
}

// Maximum lengths of lists.
const (
	MaxRecent  = 100
	MaxMoments = 100
	MaxRanked  = 100
)

const window28 = 28 * 24 * time.Hour

// Store reads records. Error: db_unavailable.
type Store interface {
	// ReadRecord reads all members except Operator. month is the start of the window of 28 days.
	ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (Record, error)
	// ListRanked returns operators that are not automated and have a decided call, ordered by score, resolved, accuracy and
	// handle.
	ListRanked(ctx context.Context, limit int, month time.Time) ([]Ranked, error)
	// Tallies counts the decided calls of an operator by lane, price and confidence. If since is set, it counts only calls
	// resolved at or after it. A result is included once it is in the feed.
	Tallies(ctx context.Context, userID string, since *time.Time) ([]Tally, error)
	// ReadScoreHistory reads up to limit newest calls and groups the decided ones into up to the given number of steps.
	ReadScoreHistory(ctx context.Context, userID string, limit, steps int) (ScoreHistory, error)
	// ListCalls returns a page of calls, newest first.
	ListCalls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error)
}

// Service returns records.
type Service struct {
	store     Store
	boards    *board.Service
	operators *operator.Service
	now       func() time.Time
}

// NewService returns a Service.
func NewService(store Store, boards *board.Service, operators *operator.Service, now func() time.Time) *Service {
	return &Service{store: store, boards: boards, operators: operators, now: now}
}

// reportDuration passes the duration of a read of ranks to board.Service.Took, because such a read also reads the results
// that the boards have not folded yet.
func (s *Service) reportDuration(start time.Time) { s.boards.Took(s.now().Sub(start)) }

// Record returns one operator's record. Error: not_found.
func (s *Service) Record(ctx context.Context, handle, id string, recent, moments int) (Record, error) {
	o, err := s.operators.Operator(ctx, handle, id)
	if err != nil {
		return Record{}, err
	}
	start := s.now()
	defer s.reportDuration(start)
	r, err := s.store.ReadRecord(ctx, o.ID, within(recent, MaxRecent), within(moments, MaxMoments), start.Add(-window28))
	r.Operator = o
	return r, err
}

// Ranked returns the operators with the first ranks.
func (s *Service) Ranked(ctx context.Context, limit int) ([]Ranked, error) {
	start := s.now()
	defer s.reportDuration(start)
	list, err := s.store.ListRanked(ctx, within(limit, MaxRanked), start.Add(-window28))
	for i := range list {
		list[i].Rank = int64(i + 1)
	}
	return list, err
}

func within(n, limit int) int { return max(0, min(n, limit)) }

// Mean returns sum/n in whole bps, rounded half away from zero; nil if n is 0.
func Mean(sum, n int64) *int {
	if n == 0 {
		return nil
	}
	half, sign := sum, int64(1)
	if sum < 0 {
		half, sign = -sum, -1
	}
	mean := int(sign * ((2*half + n) / (2 * n)))
	return &mean
}
