package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Stats contains the numbers of an operator's calls by status, and figures computed from them.
type Stats struct {
	Total, Won, Lost, Void int64
	Score, Streak          int64
	AvgCLV                 *int // mean closing line value in bps; nil without a closing line
}

// Best is the won call of an operator with the lowest scoring price. Odds is this price.
type Best struct {
	SignalID, MarketID, MarketTitle string
	Odds                            protocol.Bps
}

// Moment is a call that was won at a low price (long odds).
type Moment struct {
	ID, Tier                        string
	SignalID, MarketID, MarketTitle string
	Side                            protocol.Side
	Odds                            protocol.Bps
	Score                           int
	MintedAt                        time.Time
}

// Record contains the statistics, the rank, the newest calls and the moments of one operator.
type Record struct {
	Operator  operator.Operator
	Stats     Stats
	Rank      *int64 // nil if no call is decided, and for automated operators
	Field     int64  // number of operators with a rank
	Broadcast int    // broadcast score of all time, 0 to 1000
	Best      *Best
	Recent    []signal.Record // newest first
	Moments   []Moment        // newest first
}

// Ranked is an operator with a rank and statistics.
type Ranked struct {
	Rank     int64
	Operator operator.Operator
	Stats    Stats
}

// Maximum numbers of recent calls and moments of a record, and of ranked operators in one list.
const (
	MaxRecent  = 100
	MaxMoments = 100
	MaxRanked  = 100
)

const window28 = 28 * 24 * time.Hour

// Store reads records and the calls of which they consist. Error: db_unavailable.
type Store interface {
	// ReadRecord returns all members of a record except Operator. recent and moments are the maximum numbers of calls and
	// moments in it. month is the start of the window of 28 days.
	ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (Record, error)
	// ListRanked returns operators that are not automated and have a decided call. They are ordered by score, number of decided
	// calls, accuracy and handle.
	ListRanked(ctx context.Context, limit int, month time.Time) ([]Ranked, error)
	// Tallies returns the counted calls of an operator by lane, price and confidence. If since is not nil, it counts only calls
	// resolved at or after since. It includes a result only when the result is in the feed.
	Tallies(ctx context.Context, userID string, since *time.Time) ([]Tally, error)
	// ReadScoreHistory reads up to limit newest calls and groups the decided ones into up to the given number of steps.
	ReadScoreHistory(ctx context.Context, userID string, limit, steps int) (ScoreHistory, error)
	// ListCalls returns a page of calls, newest first.
	ListCalls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error)
}

// Service returns the records of operators, and measures their skill.
type Service struct {
	store     Store
	boards    *board.Service
	operators *operator.Service
	now       func() time.Time
}

// NewService returns a Service that reads from store. It reads operators with the service operators, and reports the durations
// of reads to boards.
func NewService(store Store, boards *board.Service, operators *operator.Service, now func() time.Time) *Service {
	return &Service{store: store, boards: boards, operators: operators, now: now}
}

// reportDuration passes the time since start to board.Service.Took. Reads of ranks become slow when many results are not in the
// stored rows of the boards.
func (s *Service) reportDuration(start time.Time) { s.boards.Took(s.now().Sub(start)) }

// Record returns the record of the operator with this handle. If handle is empty, id identifies the operator. The parameters
// recent and moments limit the numbers of calls and moments in the record. Errors: not_found, db_unavailable.
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

// Ranked returns the highest-ranked operators, at most limit. Error: db_unavailable.
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

// Mean returns sum/n as a whole number, rounded half away from zero. It returns nil if n is 0.
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
