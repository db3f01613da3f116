package market

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

const (
	// unconfirmedEvery is the time between two rounds that request unconfirmed markets.
	unconfirmedEvery = 10 * time.Second
	// unconfirmedPause is the least time between two requests of one market.
	unconfirmedPause = time.Minute
	// unconfirmedBatch is the most markets of one round.
	unconfirmedBatch = 20
	// unconfirmedFor is how long a call waits for its venue.
	unconfirmedFor = 48 * time.Hour
)

// ReadUnconfirmed requests markets with unconfirmed calls from their venues. An answer
// publishes the calls. It voids the calls that a venue denies or that are older than unconfirmedFor.
func (c *Catalogue) ReadUnconfirmed(ctx context.Context) error {
	ctx = WithPurpose(ctx, ForCatalogue)
	now := c.markets.now()
	ids, err := c.store.TakeUnconfirmed(ctx, now, now.Add(-unconfirmedPause), unconfirmedBatch)
	if err != nil {
		return err
	}
	denies := make([]bool, len(ids))
	places := make(chan struct{}, readers)
	var wait sync.WaitGroup
	for i, id := range ids {
		if c.markets.venues[id.Provider()] == nil {
			continue
		}
		places <- struct{}{}
		wait.Go(func() {
			_, err := c.markets.Refresh(ctx, id) // unavailable: requested again in a later round
			denies[i] = errors.Is(err, ErrNotFound)
			<-places
		})
	}
	wait.Wait()
	var denied []syntax.MarketID
	for i, id := range ids {
		if denies[i] {
			denied = append(denied, id)
		}
	}
	_, err = c.store.DenyUnconfirmed(ctx, denied, now.Add(-unconfirmedFor), now)
	return err
}
