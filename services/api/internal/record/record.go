package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Stats counts what an operator has called.
type Stats struct {
	Total, Won, Lost, Void int64
	Score, Streak          int64
	AvgCLV                 *int // bps; nil without a closing line
}

// Best is the won call at the lowest price, as it was scored.
type Best struct {
	SignalID, MarketID, MarketTitle string
	Odds                            protocol.Bps
}

// Moment is a call that was won at long odds (contract 4.8.2).
type Moment struct {
	ID, Tier                        string
	SignalID, MarketID, MarketTitle string
	Side                            protocol.Side
	Odds                            protocol.Bps
	Score                           int
	MintedAt                        time.Time
}

// Record is one operator's.
type Record struct {
	Operator  operator.Operator
	Stats     Stats
	Rank      *int64 // nil without a decided call, and of machines
	Field     int64  // how many are ranked
	Broadcast int    // the broadcast score of all of life
	Best      *Best
	Recent    []signal.Record // newest first
	Moments   []Moment        // newest first
}

// Ranked is one place of the ranked field.
type Ranked struct {
	Rank     int64
	Operator operator.Operator
	Stats    Stats
}

// Most of what one read shows.
const (
	MaxRecent  = 100
	MaxMoments = 100
	MaxRanked  = 100
)

const window28 = 28 * 24 * time.Hour

// Store reads records. Fault: db_unavailable.
type Store interface {
	// ReadRecord reads all but Operator; month is when the 28 days begin.
	ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (Record, error)
	// ListRanked lists people with a decided call by score, resolved, accuracy, handle.
	ListRanked(ctx context.Context, limit int, month time.Time) ([]Ranked, error)
	// Tallies counts the decided calls of an operator by lane, price and confidence; with
	// since, of those resolved at or after it. A result shows in it once it is in the feed.
	Tallies(ctx context.Context, userID string, since *time.Time) ([]Tally, error)
	// ReadCourse looks at the newest calls, most of them, and joins those that were
	// decided into so many steps.
	ReadCourse(ctx context.Context, userID string, most, steps int) (Course, error)
	// ListCalls returns a page of calls, newest first.
	ListCalls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error)
}

// Service reads records.
type Service struct {
	store     Store
	boards    *board.Service
	operators *operator.Service
	now       func() time.Time
}

// NewService wires the subject.
func NewService(store Store, boards *board.Service, operators *operator.Service, now func() time.Time) *Service {
	return &Service{store: store, boards: boards, operators: operators, now: now}
}

// took passes the duration of a read of ranks to board.Service.Took, because such a read also reads the results that the boards
// have not folded yet.
func (s *Service) took(begun time.Time) { s.boards.Took(s.now().Sub(begun)) }

// Record reads one operator's record. Fault: not_found.
func (s *Service) Record(ctx context.Context, handle, id string, recent, moments int) (Record, error) {
	o, err := s.operators.Operator(ctx, handle, id)
	if err != nil {
		return Record{}, err
	}
	begun := s.now()
	defer s.took(begun)
	r, err := s.store.ReadRecord(ctx, o.ID, within(recent, MaxRecent), within(moments, MaxMoments), begun.Add(-window28))
	r.Operator = o
	return r, err
}

// Ranked lists the first places of the ranked field.
func (s *Service) Ranked(ctx context.Context, limit int) ([]Ranked, error) {
	begun := s.now()
	defer s.took(begun)
	list, err := s.store.ListRanked(ctx, within(limit, MaxRanked), begun.Add(-window28))
	for i := range list {
		list[i].Rank = int64(i + 1)
	}
	return list, err
}

func within(n, most int) int { return max(0, min(n, most)) }

// Mean is the mean of a sum in whole bps, rounded half away from zero; nil of none.
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
