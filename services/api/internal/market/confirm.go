package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// confirmEvery is the time between two rounds of requests for second quotes.
	confirmEvery = 4 * time.Second
	// confirmFor is the length of the period in which the second quote of a call is requested. The period starts when
	// ConfirmAfter has passed since the call. After it, the quote comes from the refresh of markets with open calls.
	confirmFor = 10 * time.Second
	// clockStep is the precision of the coarsest venue clock, which is the Date header of an HTTP answer. A quote may be
	// dated up to clockStep too early, so second quotes are requested clockStep later than the earliest permitted time.
	clockStep = time.Second
	// confirmPause is the shortest time between two requests for second quotes of one market. It is shorter than
	// confirmEvery, so that the next round may request the market again.
	confirmPause = 3 * time.Second
	// commitDelay is an upper bound of the time from the date of a call to its commit, including clock differences between
	// processes.
	commitDelay = 3 * time.Second
	// confirmTimeout is the timeout of all requests of one round of second quotes.
	confirmTimeout = 5 * time.Second
	// confirmRead is the largest number of markets that a round reads from the store. confirmBatch is the largest number of
	// markets that it requests from a venue.
	confirmRead  = 500
	confirmBatch = 100
)

// Confirm requests second quotes for the markets of one venue. It considers calls that are older than ConfirmAfter. It
// requests one quote for each market, in as few requests as the venue allows. It reads the calls from the store, so a restart
// loses none. A market without a quote in the response is requested again after confirmPause.
func (c *Catalogue) Confirm(ctx context.Context, p protocol.Provider, venue Venue) error {
	now := c.markets.now()
	newest := now.Add(-c.ConfirmAfter - clockStep)
	found, err := c.store.ListAwaitingQuote(ctx, p, c.awaitingSince(p, now), newest, c.ConfirmAfter, confirmRead)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		c.mu.Lock()
		c.confirmed[p] = newest.Add(-commitDelay)
		c.mu.Unlock()
	}
	due := c.unpaused(found, now)
	if len(due) == 0 {
		return nil
	}
	quoteCtx, cancel := context.WithTimeout(WithPurpose(ctx, ForConfirm), confirmTimeout)
	defer cancel()
	records, err := venue.Quote(quoteCtx, due)
	if err != nil {
		return err
	}
	_, err = c.markets.Apply(ctx, records, true)
	return err
}

// awaitingSince returns a filing time for provider p. At the time now, only calls that were filed later can still need a
// second quote.
func (c *Catalogue) awaitingSince(p protocol.Provider, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := now.Add(-c.ConfirmAfter - confirmFor)
	if c.confirmed[p].After(since) {
		return c.confirmed[p]
	}
	return since
}

// unpaused returns at most confirmBatch of the given markets. It omits markets that were requested within confirmPause. It
// records that the returned markets are requested at the time now.
func (c *Catalogue) unpaused(ids []protocol.MarketID, now time.Time) []protocol.MarketID {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := make([]protocol.MarketID, 0, min(len(ids), confirmBatch))
	for _, id := range ids {
		if len(due) < confirmBatch && !c.requested.has(id, now) {
			c.requested.put(id, now, now.Add(confirmPause))
			due = append(due, id)
		}
	}
	return due
}
