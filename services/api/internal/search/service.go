package search

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// ErrUnavailable: the catalogue has not been read yet.
var ErrUnavailable = fault.New(fault.Unavailable, "db_unavailable", "the catalogue is being read")

const (
	// followEvery is how often the index takes in what changed.
	followEvery = 5 * time.Second
	// overlap is how far each look goes back behind the one before: a row may be
	// committed that much later than the time that it carries.
	overlap = 30 * time.Second
	// wholeEvery is how often everything is read again, for what came later still.
	wholeEvery = 10 * time.Minute
)

// Store reads what is searched.
type Store interface {
	// ListSearchable reads the markets whose row or quote changed since, in no
	// order; the zero time is all of them.
	ListSearchable(ctx context.Context, since time.Time) ([]Doc, error)
	// ListResolved reads the markets of a provider that have an outcome, the
	// newest first, behind a place, at most limit.
	ListResolved(ctx context.Context, p syntax.Provider, after Place, limit int) ([]Resolved, error)
	// GetSentiment reads how the calls on a market lean; none is all zero.
	GetSentiment(ctx context.Context, id syntax.MarketID, now time.Time) (Sentiment, error)
	// ListGaps lists open markets by how far the crowd is from the price; an empty
	// id is every market.
	ListGaps(ctx context.Context, id syntax.MarketID, now time.Time, limit int) ([]Gap, error)
}

// Resolved is a market with its outcome.
type Resolved struct {
	ID         syntax.MarketID
	Title      string
	Verdict    syntax.Verdict
	ResolvedAt time.Time
	ClosePrice *syntax.Bps
	Volume     *float64
	Signals    int64
}

// Place is a row of the list of outcomes; the zero Place is before the first.
type Place struct {
	At time.Time
	ID syntax.MarketID
}

// Service searches an index that it keeps up to date.
type Service struct {
	store Store
	index *Index
	now   func() time.Time
	ready chan struct{} // closed when the whole catalogue was read once
	whole time.Time     // of the last complete read; used by Run alone
	seen  time.Time
	leans leans
}

// NewService has nothing to find until Run or Refresh has read the catalogue.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, index: NewIndex(), now: now, ready: make(chan struct{}), leans: leans{kept: make(map[syntax.MarketID]*lean)}}
}

// Run keeps the index up to date until ctx ends; failed hears of reads that
// went wrong, which are tried again.
func (s *Service) Run(ctx context.Context, failed func(error)) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Refresh takes in what changed. It is not called twice at once.
func (s *Service) Refresh(ctx context.Context) error {
	begin := s.now()
	since := time.Time{}
	if whole := s.whole.IsZero() || begin.Sub(s.whole) >= wholeEvery; !whole {
		since = s.seen.Add(-overlap)
	}
	docs, err := s.store.ListSearchable(ctx, since)
	if err != nil {
		return err
	}
	s.index.Put(docs)
	s.seen = begin
	if since.IsZero() {
		if s.whole.IsZero() {
			close(s.ready)
		}
		s.whole = begin
	}
	return nil
}

// Find searches. A caller that comes before the catalogue was read waits for
// it. Fault: db_unavailable.
func (s *Service) Find(ctx context.Context, q Query) ([]syntax.MarketID, string, error) {
	if err := s.await(ctx); err != nil {
		return nil, "", err
	}
	ids, next := s.index.Find(q)
	return ids, next, nil
}

func (s *Service) await(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	default:
	}
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ErrUnavailable.Wrap(ctx.Err())
	}
}

// MostResolved and DefaultResolved are the sizes of a page of outcomes.
const (
	MostResolved    = 100
	DefaultResolved = 50
)

// Resolved lists the markets of a provider that have an outcome, the newest
// first. A cursor that cannot be read starts from the beginning. Fault:
// db_unavailable.
func (s *Service) Resolved(ctx context.Context, p syntax.Provider, limit int, cursor string) ([]Resolved, string, error) {
	if limit < 1 {
		limit = DefaultResolved
	}
	limit = min(limit, MostResolved)
	var after Place
	// The first key tells the list: a cursor of another one starts from the beginning.
	if c, ok := syntax.DecodeCursor(cursor, 2); ok && c.Keys[0] == resolvedKey {
		if at, ok := c.Time(1); ok {
			after = Place{at, syntax.MarketID(c.ID)}
		}
	}
	rows, err := s.store.ListResolved(ctx, p, after, limit+1)
	if err != nil || len(rows) <= limit {
		return rows, "", err
	}
	rows = rows[:limit]
	last := rows[limit-1]
	return rows, syntax.NewCursor(string(last.ID), resolvedKey, syntax.TimeKey(last.ResolvedAt)).Encode(), nil
}

const resolvedKey = "resolved"
