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
	// sweepEvery is the time between the starts of two full sweeps of a venue. It is shorter than LiveFor, so that the price
	// of each open market remains visible.
	sweepEvery = 8 * time.Minute
	// hotEvery is the time between two searches for markets that need a fresh price.
	hotEvery = 10 * time.Second
	// hotAge is the age at which the price of a hot market (with open calls, or in a programme soon) is refreshed. Together
	// with hotEvery it keeps such prices younger than a minute.
	hotAge = 45 * time.Second
	// pauseAfter is the time before a market is requested again after its venue returned no answer for it.
	pauseAfter = 5 * time.Minute
	// quoteBatch is the largest number of priced markets in one refresh, and newBatch is that of markets that never had a
	// price. Without newBatch, ids that no venue knows would displace the other markets.
	quoteBatch = 500
	newBatch   = 25
	// readBatch is the largest number of markets that one refresh reads individually. A larger number would delay the next
	// refresh.
	readBatch = 20
	// missedBatch is the largest number of markets that are read individually after a sweep.
	missedBatch = 300
	// maxPages is the largest number of pages in one sweep. It ends the sweep of a venue that never returns a last page.
	maxPages = 5000
	// readers is the number of concurrent reads of individual markets.
	readers = 4
	// keepPrices is the age up to which every price snapshot is stored. Older snapshots are thinned every thinEvery, at most
	// thinBatch rows at a time.
	keepPrices = 90 * 24 * time.Hour
	thinEvery  = time.Hour
	thinBatch  = 20_000
)

// Catalogue refreshes the stored markets of all venues in the background. Only one replica of the service may run it.
type Catalogue struct {
	markets *Service
	store   Store
	log     *slog.Logger
	streams map[protocol.Provider]Stream

	// Swept is called in each complete sweep after its last page, with the number of records and the duration so far. Set it
	// before Run. It may be nil.
	Swept func(p protocol.Provider, records int, took time.Duration)
	// ConfirmAfter is the shortest time from a call to its second quote. If it is 0, no second quote is requested. Set it before
	// Run.
	ConfirmAfter time.Duration

	mu        sync.Mutex
	requested expiringSet                     // markets whose second quote was requested less than confirmPause ago
	confirmed map[protocol.Provider]time.Time // calls filed up to this time have a second quote or no longer need one
}

// NewCatalogue returns a catalogue that refreshes the markets of the given service. Run starts it.
func NewCatalogue(markets *Service, log *slog.Logger) *Catalogue {
	return &Catalogue{
		markets: markets, store: markets.store, log: log, requested: make(expiringSet), confirmed: make(map[protocol.Provider]time.Time),
	}
}

// Run refreshes the catalogue until ctx ends. It starts with a full sweep of each venue. Failures of single tasks are
// logged. The result is always ctx.Err(); the signature is that of a task of package lease.
func (c *Catalogue) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	for p, venue := range c.markets.venues {
		wait.Go(func() {
			every(ctx, sweepEvery, func() { c.logError(ctx, "sweep", p, c.Sweep(ctx, p, venue)) })
		})
		wait.Go(func() {
			every(ctx, hotEvery, func() { c.logError(ctx, "refresh", p, c.RefreshHot(ctx, p, venue)) })
		})
		if c.ConfirmAfter > 0 {
			wait.Go(func() {
				every(ctx, confirmEvery, func() { c.logError(ctx, "second quotes", p, c.Confirm(ctx, p, venue)) })
			})
		}
	}
	for p, s := range c.streams {
		wait.Go(func() { c.stream(ctx, p, s) })
	}
	wait.Go(func() {
		every(ctx, time.Second, func() {
			_, err := c.store.CloseNative(ctx, c.markets.now())
			c.logError(ctx, "close native", protocol.Manual, err)
		})
	})
	wait.Go(func() {
		every(ctx, unconfirmedEvery, func() { c.logError(ctx, "unconfirmed calls", "", c.ReadUnconfirmed(ctx)) })
	})
	wait.Go(func() {
		every(ctx, thinEvery, func() {
			_, err := c.store.ThinPrices(ctx, c.markets.now().Add(-keepPrices), thinBatch)
			c.logError(ctx, "thin prices", "", err)
		})
	})
	wait.Wait()
	return ctx.Err()
}

func (c *Catalogue) logError(ctx context.Context, what string, p protocol.Provider, err error) {
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "catalogue task failed", "task", what, "provider", string(p), "error", err)
	}
}

// every calls the function do immediately and then once in each interval, until ctx ends. The interval is measured between
// the starts of two calls.
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

// Sweep reads every open market of a venue page by page and stores the records. It then reads, one by one, at most
// missedBatch markets that are stored as open and were not on any page.
func (c *Catalogue) Sweep(ctx context.Context, p protocol.Provider, venue Venue) error {
	ctx = WithPurpose(ctx, ForCatalogue)
	start := c.markets.now().Truncate(time.Millisecond) // records are dated with the same precision
	seen := make(map[string]bool)
	cursor, count := "", 0
	for range maxPages {
		records, next, err := venue.ListOpen(ctx, cursor)
		if err != nil {
			return err
		}
		if _, err := c.markets.Apply(ctx, records, false); err != nil {
			return err
		}
		count += len(records)
		if next == "" || seen[next] {
			break
		}
		seen[next] = true
		cursor = next
	}
	if c.Swept != nil {
		c.Swept(p, count, c.markets.now().Sub(start))
	}
	missed, err := c.store.ListMissed(ctx, p, start, start.Add(-pauseAfter), missedBatch)
	if err != nil {
		return err
	}
	return c.readEach(ctx, missed)
}

// RefreshHot refreshes the prices of hot markets whose refresh is due, in as few requests as possible. A market that is
// missing in the response is no longer open or does not exist. RefreshHot reads at most readBatch such markets one by one.
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

// readEach reads markets one by one, with at most readers concurrent reads, and returns the first error. It marks the
// requested markets as checked, so that a market that the venue does not return is not read again immediately. A market is
// not marked if the request limit of this process prevented its request.
func (c *Catalogue) readEach(ctx context.Context, ids []protocol.MarketID) error {
	if len(ids) == 0 {
		return nil
	}
	began := c.markets.now() // read before the requests, so that records are dated later
	var mu sync.Mutex
	var requested []protocol.MarketID
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
				requested = append(requested, id)
			}
			if errors.Is(err, ErrNotFound) {
				err = nil
			}
			return err
		})
	}
	err := reads.Wait()
	if len(requested) > 0 {
		err = errors.Join(err, c.store.MarkChecked(ctx, requested, began))
	}
	return err
}

// expiringSet is a set of market ids that expire. It has at most maxSetSize ids, because clients choose them. When it is
// full, put deletes the expired ids, and all ids if more than half of maxSetSize remain. An id that is deleted early costs
// one more request to a venue or the database.
type expiringSet map[protocol.MarketID]time.Time

// has reports whether id is in the set and has not expired. It deletes an expired id.
func (m expiringSet) has(id protocol.MarketID, now time.Time) bool {
	until, ok := m[id]
	if ok && !now.Before(until) {
		delete(m, id)
		return false
	}
	return ok
}

// put adds id to the set with the expiry time until. If the set is full, put first deletes the expired ids, and then all ids
// if more than half of maxSetSize remain.
func (m expiringSet) put(id protocol.MarketID, now, until time.Time) {
	if len(m) >= maxSetSize {
		maps.DeleteFunc(m, func(_ protocol.MarketID, end time.Time) bool { return !now.Before(end) })
		if len(m) > maxSetSize/2 { // otherwise the set would soon be full again, and each deletion reads all ids
			clear(m)
		}
	}
	m[id] = until
}
