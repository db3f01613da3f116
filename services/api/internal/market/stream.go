package market

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// flushEvery is the time between two writes of streamed prices to the store.
	flushEvery = time.Second
	// maxStreamed is the largest number of markets of a venue whose prices are streamed.
	maxStreamed = 600
	// viewedFor is the time for which the price of a market is streamed after a reader requested the market.
	viewedFor = 15 * time.Minute
	// maxViewed is the largest number of markets of a venue whose prices are streamed only because readers requested them.
	maxViewed = 200
)

// Streamed is a market whose price a stream receives.
type Streamed struct {
	ID       protocol.MarketID
	Token    string // key with which the venue identifies the prices of the market
	YesIndex int    // 0: Token has the prices of YES; 1: Token has the prices of NO
}

// Tick is one price of a market, received from a stream.
type Tick struct {
	ID  protocol.MarketID
	Yes protocol.Bps
	// At is the time that the venue gives for the last frame of the market, but not later than its receipt. A frame that
	// does not change the price also updates At.
	At    time.Time
	Quote *Quote // dated At; nil if the price is not a quote
}

// Stream provides the live prices of one venue.
type Stream interface {
	// Run receives the prices of the markets that want returns and passes them to publish, until ctx ends. It calls want
	// repeatedly, and reconnects after every failure of the venue. publish does not block and may be called concurrently.
	Run(ctx context.Context, want func(context.Context) ([]Streamed, error), publish func(Tick))
}

// Follow makes Catalogue.Run store the prices of a stream of the venue p. Call it before Run.
func (c *Catalogue) Follow(p protocol.Provider, s Stream) {
	if c.streams == nil {
		c.streams = make(map[protocol.Provider]Stream)
	}
	c.streams[p] = s
}

// stream receives prices from s until ctx ends. Once in each interval flushEvery, it stores the newest received price of
// each market.
func (c *Catalogue) stream(ctx context.Context, p protocol.Provider, s Stream) {
	var mu sync.Mutex
	latest := make(map[protocol.MarketID]Tick)
	var wait sync.WaitGroup
	wait.Go(func() {
		every(ctx, flushEvery, func() {
			mu.Lock()
			ticks := make([]Tick, 0, len(latest))
			for _, t := range latest {
				ticks = append(ticks, t)
			}
			clear(latest)
			mu.Unlock()
			if len(ticks) > 0 {
				_, err := c.store.ApplyTicks(ctx, ticks)
				c.logError(ctx, "store streamed prices", p, err)
			}
		})
	})
	want := func(ctx context.Context) ([]Streamed, error) {
		now := c.markets.now()
		return c.store.ListStreamed(ctx, p, now, c.markets.viewedMarkets(p, now), maxStreamed)
	}
	s.Run(ctx, want, func(t Tick) {
		t.At = t.At.UTC().Truncate(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if before, ok := latest[t.ID]; !ok || before.At.Before(t.At) {
			latest[t.ID] = t
		}
	})
	wait.Wait()
}

// viewedMarkets returns at most maxViewed markets of a venue that readers requested in the last viewedFor.
func (s *Service) viewedMarkets(p protocol.Provider, now time.Time) []protocol.MarketID {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]protocol.MarketID, 0)
	for id, until := range s.viewed {
		if len(out) < maxViewed && id.Provider() == p && now.Before(until) {
			out = append(out, id)
		}
	}
	return out
}
