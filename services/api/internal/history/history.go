package history

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// ErrUnknown is the error of Markets.Book for a market that does not exist.
var ErrUnknown = apperr.New(apperr.NotFound, "market_not_found", "no such market")

// Point is the price of YES at one time. T is in Unix seconds. P is a probability from 0 to 1 with at most four decimals.
type Point struct {
	T int64
	P float64
}

// cacheTime returns the time for which a history of the interval i is cached.
func cacheTime(i protocol.Interval) time.Duration {
	switch i {
	case protocol.IntervalHour:
		return 30 * time.Second
	case protocol.IntervalWeek:
		return 5 * time.Minute
	case protocol.IntervalAll:
		return 15 * time.Minute
	}
	return time.Minute
}

// Book contains the data of a market that identifies its order book at the venue.
type Book struct {
	Provider protocol.Provider
	TokenID  string     // empty if the market has no order book
	YesIndex int        // index of the outcome that counts as YES
	ClosedAt *time.Time // nil while the market trades
}

// Markets reads stored markets.
type Markets interface {
	// Book returns the order book of a market. Error: ErrUnknown.
	Book(ctx context.Context, id protocol.MarketID) (Book, error)
	// Snapshots returns the stored prices of a market since from, oldest first.
	Snapshots(ctx context.Context, id protocol.MarketID, from time.Time) ([]Point, error)
}

// Venue reads price histories of the primary venue. For an unknown token it returns no points.
type Venue interface {
	History(ctx context.Context, b Book, i protocol.Interval) ([]Point, error)
}

// Service returns price histories.
type Service struct {
	markets Markets
	venue   Venue
	now     func() time.Time
	answers *cache.Cache[string, answer]
}

// answer is a cached history and the time for which it is cached.
type answer struct {
	points []Point
	life   time.Duration
}

const (
	// maxAnswers is the largest number of cache entries, and maxReads is the largest number of concurrent reads. Both are
	// bounded because clients choose the cache keys.
	maxAnswers = 2000
	maxReads   = 2000
	// readTimeout is the timeout of one read. hold is the time after a failed read in which the same history is not read
	// again.
	readTimeout = 5 * time.Second
	hold        = 3 * time.Second
)

// errLate is returned if the history is not read before the context of the caller ends or the read times out. It is also
// returned if too many reads are in progress, and after Close.
var errLate = apperr.New(apperr.Unavailable, "venue_unavailable", "the price history could not be read in time; retry later")

// NewService returns a service that reads histories from the primary venue and from stored markets. The caller must call Close
// when it no longer uses the service.
func NewService(markets Markets, venue Venue, now func() time.Time) *Service {
	answers := cache.New(cache.Options[string, answer]{
		Life: func(a answer) time.Duration { return a.life }, Hold: hold, Timeout: readTimeout,
		MaxKeys: maxAnswers, Loads: maxReads, Values: true, Now: now,
	})
	return &Service{markets: markets, venue: venue, now: now, answers: answers}
}

// Close cancels the reads in progress and waits for them.
func (s *Service) Close() { s.answers.Close() }

// get returns the history for a key and an interval from the cache. If it is not cached, get calls the function read and
// caches the result. Concurrent callers share one read, which continues after the end of ctx.
func (s *Service) get(ctx context.Context, key string, i protocol.Interval, read func(context.Context) ([]Point, error)) ([]Point, error) {
	a, err := s.answers.Get(ctx, key+"\x00"+string(i), func(ctx context.Context, _ answer) (answer, error) {
		points, err := read(ctx)
		return answer{points: points, life: cacheTime(i)}, err
	})
	for _, late := range []error{context.Canceled, context.DeadlineExceeded, cache.ErrClosed, cache.ErrBusy} {
		if errors.Is(err, late) {
			return nil, errLate.Wrap(err)
		}
	}
	return a.points, err
}

// ByMarket returns the history of a market, oldest point first, or nil for an unknown market. The history of a market of the
// primary venue is that of its order book, and nil if it has none: the stored snapshots come from the metadata service, whose
// prices are of another kind. Other markets have the stored snapshots. Errors: venue_unavailable, db_unavailable.
func (s *Service) ByMarket(ctx context.Context, id protocol.MarketID, i protocol.Interval) ([]Point, error) {
	return s.get(ctx, "m\x00"+string(id), i, func(ctx context.Context) ([]Point, error) {
		book, err := s.markets.Book(ctx, id)
		if errors.Is(err, ErrUnknown) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case book.Provider != protocol.Polymarket:
			return s.markets.Snapshots(ctx, id, i.Start(s.now()))
		case book.TokenID == "":
			return nil, nil
		}
		return s.venue.History(ctx, book, i)
	})
}

// maxToken is the largest length of a token in digits. Tokens of the venue are shorter.
const maxToken = 80

// ByToken returns the history of the order book that a token identifies at the primary venue, oldest point first. It is empty
// for an unknown or invalid token. Error: venue_unavailable.
func (s *Service) ByToken(ctx context.Context, token string, i protocol.Interval) ([]Point, error) {
	if !isToken(token) {
		return nil, nil
	}
	return s.get(ctx, "t\x00"+token, i, func(ctx context.Context) ([]Point, error) {
		return s.venue.History(ctx, Book{Provider: protocol.Polymarket, TokenID: token}, i)
	})
}

func isToken(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

// Probability returns a price in bps as a probability from 0 to 1, rounded to four decimals.
func Probability(b protocol.Bps) float64 { return math.Round(b.Probability()*10_000) / 10_000 }
