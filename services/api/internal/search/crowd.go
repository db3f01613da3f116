package search

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sentiment is how those who called on a market lean: the calls of operators that
// count as crowd, by side.
type Sentiment struct {
	Yes, No                     int64
	WeightYes, WeightNo         float64  // each call weighs its confidence, 0.5 where none was given
	ConfidenceYes, ConfidenceNo *float64 // means of those given
	TakesYes, TakesNo           int64
	Signals24h                  int64
	Before                      *protocol.Bps // price of YES a day ago
	UpdatedAt                   time.Time
}

// Gap is an open market on which the crowd has called.
type Gap struct {
	ID      protocol.MarketID
	Yes, No int64 // calls of operators that count as crowd
}

const (
	// leanFor is how long a sentiment is cached: reading it counts every call on the market.
	leanFor = 2 * time.Second
	// mostLeans bounds the cached sentiments, because callers choose the ids.
	mostLeans = 1024
)

// Sentiment returns the sides of the calls on a market as they were at most leanFor ago. Concurrent requests share one read.
// Fault: db_unavailable.
func (s *Service) Sentiment(ctx context.Context, id protocol.MarketID) (Sentiment, error) {
	return s.leans.Get(ctx, id, func(ctx context.Context, _ Sentiment) (Sentiment, error) {
		now := s.now()
		out, err := s.store.GetSentiment(ctx, id, now)
		out.UpdatedAt = now
		return out, err
	})
}

const (
	// DefaultGaps and MostGaps are the sizes of the list of gaps.
	DefaultGaps = 20
	MostGaps    = 100
)

// Gaps lists open markets with a price and three calls or more by how far the
// crowd is from the price, the widest first; id narrows it to one market. Fault:
// db_unavailable.
func (s *Service) Gaps(ctx context.Context, id protocol.MarketID, limit int) ([]Gap, error) {
	if limit < 1 {
		limit = DefaultGaps
	}
	return s.store.ListGaps(ctx, id, s.now(), min(limit, MostGaps))
}
