package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// confirmEvery is the time between two rounds that request second quotes.
	confirmEvery = 4 * time.Second
	// confirmFor is how long the second quote of a call is requested, from the earliest time that
	// it may have. Later quotes come from the refresh of markets with open calls.
	confirmFor = 10 * time.Second
	// clockStep is the precision of the coarsest venue clock, the Date of an answer. A quote
	// that is requested earlier may be dated before the earliest time of a second quote.
	clockStep = time.Second
	// confirmPause is the least time between two requests of second quotes of one market. It is
	// shorter than confirmEvery, so that the next round may request it again.
	confirmPause = 3 * time.Second
	// commitDelay is the longest time from the date of a call to its commit, with the difference
	// of clocks.
	commitDelay = 3 * time.Second
	// confirmTimeout bounds the requests of one round.
	confirmTimeout = 5 * time.Second
	// confirmRead and confirmBatch are the most markets that a round finds and requests.
	confirmRead  = 500
	confirmBatch = 100
)

// Confirm requests the second quotes of calls that are old enough for one: one quote of each
// market, in as few requests as the venue allows. The calls are read from the store, so that a
// restart loses none. A market whose answer has no quote is requested again after
// confirmPause.
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
	asking, cancel := context.WithTimeout(WithPurpose(ctx, ForConfirm), confirmTimeout)
	defer cancel()
	records, err := venue.Quote(asking, due)
	if err != nil {
		return err
	}
	_, err = c.markets.Apply(ctx, records, true)
	return err
}

// awaitingSince returns the time after which a round at now reads calls.
func (c *Catalogue) awaitingSince(p protocol.Provider, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := now.Add(-c.ConfirmAfter - confirmFor)
	if c.confirmed[p].After(since) {
		return c.confirmed[p]
	}
	return since
}

// unpaused returns at most confirmBatch of the markets, without those that were requested less
// than confirmPause ago, and notes that they are requested now.
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
