package search

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sentiment counts the calls of a market's crowd by side. The crowd are the operators whose calls count towards it.
type Sentiment struct {
	Yes, No                     int64
	WeightYes, WeightNo         float64  // sums of confidences; a call without a confidence counts 0.5
	ConfidenceYes, ConfidenceNo *float64 // means of the stated confidences
	TakesYes, TakesNo           int64
	Signals24h                  int64
	Before                      *protocol.Bps // price of YES 24 hours ago
	UpdatedAt                   time.Time
}

// Gap is an open market with calls of the crowd.
type Gap struct {
	ID      protocol.MarketID
	Yes, No int64 // calls of operators that count as crowd
}

const (
	// sentimentAge is the time for which a sentiment is cached. Reading one counts every call on the market.
	sentimentAge = 2 * time.Second
	// maxSentiments is the largest number of cached sentiments. It is bounded because callers choose the ids.
	maxSentiments = 1024
)

// Sentiment returns the calls on a market by side, at most sentimentAge old. Concurrent requests share one read. Fault:
// db_unavailable.
func (s *Service) Sentiment(ctx context.Context, id protocol.MarketID) (Sentiment, error) {
	return s.sentiments.Get(ctx, id, func(ctx context.Context, _ Sentiment) (Sentiment, error) {
		now := s.now()
		out, err := s.store.GetSentiment(ctx, id, now)
		out.UpdatedAt = now
		return out, err
	})
}

// DefaultGaps and MostGaps are the default and the largest number of markets in the list of gaps.
const (
	DefaultGaps = 20
	MostGaps    = 100
)

// Gaps returns open markets with a price and at least three calls, ordered by the distance of the crowd from the price,
// the greatest first. A non-empty id selects one market. Fault: db_unavailable.
func (s *Service) Gaps(ctx context.Context, id protocol.MarketID, limit int) ([]Gap, error) {
	if limit < 1 {
		limit = DefaultGaps
	}
	return s.store.ListGaps(ctx, id, s.now(), min(limit, MostGaps))
}
