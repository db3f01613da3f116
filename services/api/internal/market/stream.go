package market

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// flushEvery is the time between two writes of streamed prices.
	flushEvery = time.Second
	// mostStreamed bounds the markets whose price is streamed.
	mostStreamed = 600
	// lookedFor is how long a market is streamed after a reader asked for it.
	lookedFor = 15 * time.Minute
	// mostLooked bounds the markets of a venue that are streamed for readers.
	mostLooked = 200
)

// Streamed is a market whose prices a stream subscribes to.
type Streamed struct {
	ID       protocol.MarketID
	Token    string // the venue's key of the prices
	YesIndex int    // 1: the prices of Token are those of NO
}

// Tick is a price from a stream.
type Tick struct {
	ID  protocol.MarketID
	Yes protocol.Bps
	// At is the venue's time of the market's last frame, and not after its receipt. A frame
	// that does not change the price updates this time.
	At    time.Time
	Quote *Quote // dated At; nil: the price is no quote
}

// Stream is the live prices of one venue.
type Stream interface {
	// Run passes the prices of the markets that want lists to tell, until ctx ends. It calls
	// want repeatedly and reconnects after every failure of the venue. tell does not block and
	// may be called from many goroutines.
	Run(ctx context.Context, want func(context.Context) ([]Streamed, error), tell func(Tick))
}

// Follow makes Run store the prices of a stream. It must be called before Run.
func (c *Catalogue) Follow(p protocol.Provider, s Stream) {
	if c.streams == nil {
		c.streams = make(map[protocol.Provider]Stream)
	}
	c.streams[p] = s
}

// stream stores the last price of each market of one stream once a second.
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
				c.logged(ctx, "keep streamed prices", p, err)
			}
		})
	})
	want := func(ctx context.Context) ([]Streamed, error) {
		now := c.markets.now()
		return c.store.ListStreamed(ctx, p, now, c.markets.lookedAt(p, now), mostStreamed)
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

// lookedAt returns markets of a venue that readers asked for in the last lookedFor.
func (s *Service) lookedAt(p protocol.Provider, now time.Time) []protocol.MarketID {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]protocol.MarketID, 0)
	for id, until := range s.looked {
		if len(out) < mostLooked && id.Provider() == p && now.Before(until) {
			out = append(out, id)
		}
	}
	return out
}
