package market

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

const (
	// flushEvery is how often streamed prices are kept.
	flushEvery = time.Second
	// mostStreamed bounds the markets whose price is followed live.
	mostStreamed = 600
	// lookedFor is how long a market is followed that somebody looked at.
	lookedFor = 15 * time.Minute
	// mostLooked is how many of those are followed.
	mostLooked = 200
)

// Streamed is a market whose price a stream is to follow.
type Streamed struct {
	ID       syntax.MarketID
	Token    string // the venue's key of the prices
	YesIndex int    // 1: the prices of Token are those of NO
}

// Tick is a price that a stream told.
type Tick struct {
	ID  syntax.MarketID
	Yes syntax.Bps
	At  time.Time // not after the moment of its arrival
}

// Stream is the live prices of one venue.
type Stream interface {
	// Run tells prices until ctx ends, of the markets that want lists; it asks
	// want again and again and gets over every failure of the venue. tell does not
	// block and may be called from many goroutines.
	Run(ctx context.Context, want func(context.Context) ([]Streamed, error), tell func(Tick))
}

// Follow has Run keep the prices of a stream too. It must come before Run.
func (c *Catalogue) Follow(p syntax.Provider, s Stream) {
	if c.streams == nil {
		c.streams = make(map[syntax.Provider]Stream)
	}
	c.streams[p] = s
}

// stream keeps what one stream tells, the last price of each market once a second.
func (c *Catalogue) stream(ctx context.Context, p syntax.Provider, s Stream) {
	var mu sync.Mutex
	latest := make(map[syntax.MarketID]Tick)
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

// lookedAt are markets of a venue that somebody looked at not long ago.
func (s *Service) lookedAt(p syntax.Provider, now time.Time) []syntax.MarketID {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]syntax.MarketID, 0)
	for id, until := range s.looked {
		if len(out) < mostLooked && id.Provider() == p && now.Before(until) {
			out = append(out, id)
		}
	}
	return out
}
