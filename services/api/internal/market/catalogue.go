package market

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// sweepEvery is the time between the starts of two full sweeps. A price is
	// shown for LiveFor, so each open market has to be seen more often than that.
	sweepEvery = 8 * time.Minute
	// hotEvery is how often the markets are looked for that need a fresh price.
	hotEvery = 10 * time.Second
	// hotAge makes a hot market due early enough to be at most a minute old.
	hotAge = 45 * time.Second
	// pauseAfter is how long a market rests that its venue did not answer for.
	pauseAfter = 5 * time.Minute
	// quoteBatch is the most markets of one hot round that were priced before,
	// newBatch of those that never were: what no venue knows must not take the
	// places of the others.
	quoteBatch = 500
	newBatch   = 25
	// readBatch is the most markets of one hot round that are read one by one, so
	// that the next round is not late.
	readBatch = 20
	// missedBatch is the most markets that are read one by one after a sweep.
	missedBatch = 300
	// maxPages ends a sweep whose venue never says that it is the last page.
	maxPages = 5000
	// readers is how many markets are read one by one at a time.
	readers = 4
	// keepPrices is how long every snapshot is kept.
	keepPrices = 90 * 24 * time.Hour
	thinEvery  = time.Hour
	thinBatch  = 20_000
)

// Catalogue keeps the markets of all venues fresh. Of all replicas one runs it.
type Catalogue struct {
	markets *Service
	store   Store
	log     *slog.Logger
	streams map[protocol.Provider]Stream

	// Swept hears of each full sweep that came to its end: how many answers it
	// read and how long it took. Set before Run; may be nil.
	Swept func(p protocol.Provider, answers int, took time.Duration)
	// ConfirmAfter is the time from a call to its second quote; 0: none is requested. Set
	// before Run.
	ConfirmAfter time.Duration

	mu        sync.Mutex
	requested memory                          // markets whose second quote was requested less than confirmPause ago
	confirmed map[protocol.Provider]time.Time // calls filed up to this time need no request for a second quote
}

// NewCatalogue wires the loops.
func NewCatalogue(markets *Service, log *slog.Logger) *Catalogue {
	return &Catalogue{
		markets: markets, store: markets.store, log: log, requested: make(memory), confirmed: make(map[protocol.Provider]time.Time),
	}
}

// Run keeps the catalogue until ctx ends; it starts with a full sweep of each
// venue. It fits pkg/lease.
func (c *Catalogue) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	for p, venue := range c.markets.venues {
		wait.Go(func() {
			every(ctx, sweepEvery, func() { c.logged(ctx, "sweep", p, c.Sweep(ctx, p, venue)) })
		})
		wait.Go(func() {
			every(ctx, hotEvery, func() { c.logged(ctx, "refresh", p, c.RefreshHot(ctx, p, venue)) })
		})
		if c.ConfirmAfter > 0 {
			wait.Go(func() {
				every(ctx, confirmEvery, func() { c.logged(ctx, "second quotes", p, c.Confirm(ctx, p, venue)) })
			})
		}
	}
	for p, s := range c.streams {
		wait.Go(func() { c.stream(ctx, p, s) })
	}
	wait.Go(func() {
		every(ctx, time.Second, func() {
			_, err := c.store.CloseNative(ctx, c.markets.now())
			c.logged(ctx, "close native", protocol.Manual, err)
		})
	})
	wait.Go(func() {
		every(ctx, unconfirmedEvery, func() { c.logged(ctx, "unconfirmed calls", "", c.ReadUnconfirmed(ctx)) })
	})
	wait.Go(func() {
		every(ctx, thinEvery, func() {
			_, err := c.store.ThinPrices(ctx, c.markets.now().Add(-keepPrices), thinBatch)
			c.logged(ctx, "thin prices", "", err)
		})
	})
	wait.Wait()
	return ctx.Err()
}

func (c *Catalogue) logged(ctx context.Context, what string, p protocol.Provider, err error) {
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "catalogue: "+what, "provider", string(p), "error", err)
	}
}

// every runs do at once and then each interval, counted from start to start,
// until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep reads every open market of a venue, page by page, and then those that
// should have been among them one by one.
func (c *Catalogue) Sweep(ctx context.Context, p protocol.Provider, venue Venue) error {
	ctx = WithPurpose(ctx, ForCatalogue)
	start := c.markets.now().Truncate(time.Millisecond) // as answers are stamped
	seen := make(map[string]bool)
	cursor, answers := "", 0
	for range maxPages {
		records, next, err := venue.ListOpen(ctx, cursor)
		if err != nil {
			return err
		}
		if _, err := c.markets.Apply(ctx, records, false); err != nil {
			return err
		}
		answers += len(records)
		if next == "" || len(records) == 0 && seen[next] || seen[next] {
			break
		}
		seen[next] = true
		cursor = next
	}
	if c.Swept != nil {
		c.Swept(p, answers, c.markets.now().Sub(start))
	}
	missed, err := c.store.ListMissed(ctx, p, start, start.Add(-pauseAfter), missedBatch)
	if err != nil {
		return err
	}
	return c.readEach(ctx, missed)
}

// RefreshHot prices the markets that are due: many in one call, and those that
// are not open any more one by one.
func (c *Catalogue) RefreshHot(ctx context.Context, p protocol.Provider, venue Venue) error {
	ctx = WithPurpose(ctx, ForCatalogue)
	now := c.markets.now()
	due, err := c.store.ListHot(ctx, p, now, now.Add(-hotAge), now.Add(-pauseAfter), quoteBatch, newBatch)
	if err != nil || len(due) == 0 {
		return err
	}
	records, err := venue.Quote(ctx, due)
	if err != nil {
		return err
	}
	if _, err := c.markets.Apply(ctx, records, true); err != nil {
		return err
	}
	answered := make(map[protocol.MarketID]bool, len(records))
	for i := range records {
		answered[records[i].ID] = true
	}
	var rest []protocol.MarketID
	for _, id := range due {
		if !answered[id] {
			rest = append(rest, id)
		}
	}
	return c.readEach(ctx, rest[:min(len(rest), readBatch)])
}

// readEach reads markets one by one, readers at a time, and returns the first error. It marks them as checked, so that a market
// whose venue gave no answer is not read again at once. A market that was not requested, because the request limit of this
// process is used up, is not marked.
func (c *Catalogue) readEach(ctx context.Context, ids []protocol.MarketID) error {
	if len(ids) == 0 {
		return nil
	}
	began := c.markets.now() // before the answers, which must count as later
	var mu sync.Mutex
	var asked []protocol.MarketID
	var reads errgroup.Group
	reads.SetLimit(readers)
	for _, id := range ids {
		reads.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			_, err := c.markets.Refresh(ctx, id)
			if !errors.Is(err, ErrBusy) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, id)
			}
			if errors.Is(err, ErrNotFound) {
				err = nil
			}
			return err
		})
	}
	err := reads.Wait()
	if len(asked) > 0 {
		err = errors.Join(err, c.store.MarkChecked(ctx, asked, began))
	}
	return err
}

// memory is a set of market ids that expire. It has at most maxMemory ids, because callers choose them: when it is full, put
// deletes the expired ids, and all ids if more than half of maxMemory are left. An id that is deleted early costs one more
// request to a venue or the database.
type memory map[protocol.MarketID]time.Time

// has reports whether id is in the set and has not expired. It deletes an expired id.
func (m memory) has(id protocol.MarketID, now time.Time) bool {
	until, ok := m[id]
	if ok && !now.Before(until) {
		delete(m, id)
		return false
	}
	return ok
}

// put adds id, which expires at until.
func (m memory) put(id protocol.MarketID, now, until time.Time) {
	if len(m) >= maxMemory {
		maps.DeleteFunc(m, func(_ protocol.MarketID, end time.Time) bool { return !now.Before(end) })
		if len(m) > maxMemory/2 { // else it would soon be full again, and each deletion reads all ids
			clear(m)
		}
	}
	m[id] = until
}
