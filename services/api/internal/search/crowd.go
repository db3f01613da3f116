package search

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sentiment contains statistics of the calls of a market's crowd, by side. The store decides which operators belong to the
// crowd.
type Sentiment struct {
	Yes, No                     int64
	WeightYes, WeightNo         float64  // sums of confidences, each 0 to 1; a call without a confidence counts as 0.5
	ConfidenceYes, ConfidenceNo *float64 // means of the stated confidences in percent; nil without one
	TakesYes, TakesNo           int64
	Signals24h                  int64
	Before                      *protocol.Bps // price of YES 24 hours ago; nil if unknown
	UpdatedAt                   time.Time
}

// Gap is an open market with the numbers of its crowd's calls, which can be compared with the price.
type Gap struct {
	ID      protocol.MarketID
	Yes, No int64 // calls of the crowd, by side
}

const (
	// sentimentAge is the time for which a sentiment is cached. A read of a sentiment counts every call on the market.
	sentimentAge = 2 * time.Second
	// maxSentiments is the largest number of cached sentiments. It is bounded because clients choose the market ids.
	maxSentiments = 1024
)

// Sentiment returns the counts of the crowd's calls on a market by side. They are at most sentimentAge old. Concurrent
// callers share one read. Error: db_unavailable.
func (s *Service) Sentiment(ctx context.Context, id protocol.MarketID) (Sentiment, error) {
	return s.sentiments.Get(ctx, id, func(ctx context.Context, _ Sentiment) (Sentiment, error) {
		now := s.now()
		out, err := s.store.GetSentiment(ctx, id, now)
		out.UpdatedAt = now
		return out, err
	})
}

// DefaultGaps and MostGaps are the default and the largest number of markets in the list of gaps between crowd and price.
const (
	DefaultGaps = 20
	MostGaps    = 100
)

// Gaps returns open markets with a price and at least three calls of the crowd. Markets with the widest gap between the
// crowd and the price come first. An id that is not empty selects one market. Error: db_unavailable.
func (s *Service) Gaps(ctx context.Context, id protocol.MarketID, limit int) ([]Gap, error) {
	if limit < 1 {
		limit = DefaultGaps
	}
	return s.store.ListGaps(ctx, id, s.now(), min(limit, MostGaps))
}
