package market

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// unconfirmedEvery is the time between two rounds that request unconfirmed markets.
	unconfirmedEvery = 10 * time.Second
	// unconfirmedPause is the shortest time between two requests of one market.
	unconfirmedPause = time.Minute
	// unconfirmedBatch is the largest number of markets of one round.
	unconfirmedBatch = 20
	// unconfirmedFor is the longest time that a call waits for its venue to confirm the market.
	unconfirmedFor = 48 * time.Hour
)

// ReadUnconfirmed reads markets with unconfirmed calls from their venues. A market that its venue confirms publishes
// its calls. It voids calls on markets that the venue does not have, and calls older than unconfirmedFor.
func (c *Catalogue) ReadUnconfirmed(ctx context.Context) error {
	ctx = WithPurpose(ctx, ForCatalogue)
	now := c.markets.now()
	ids, err := c.store.ClaimUnconfirmed(ctx, now, now.Add(-unconfirmedPause), unconfirmedBatch)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var denied []protocol.MarketID
	var reads errgroup.Group
	reads.SetLimit(readers)
	for _, id := range ids {
		if c.markets.venues[id.Provider()] == nil {
			continue
		}
		reads.Go(func() error {
			// A market whose venue is unavailable is requested again in a later round.
			if _, err := c.markets.Refresh(ctx, id); errors.Is(err, ErrNotFound) {
				mu.Lock()
				defer mu.Unlock()
				denied = append(denied, id)
			}
			return nil
		})
	}
	_ = reads.Wait() // no read returns an error
	_, err = c.store.DenyUnconfirmed(ctx, denied, now.Add(-unconfirmedFor), now)
	return err
}

// errLater rejects a call on a market that is not stored while the request limit of its venue is reached.
var errLater = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the market is not known yet and its venue cannot be asked now; retry in 1 s").
	With("retryAfterMs", 1000)

// MaxUnconfirmed is the largest number of calls of one operator on markets that their venues have not confirmed.
const MaxUnconfirmed = 20

// errUnconfirmed rejects a call beyond MaxUnconfirmed.
var errUnconfirmed = apperr.New(apperr.Limited, "rate_limited", fmt.Sprintf(
	"limit of %d calls on unconfirmed markets reached; call on known markets or retry later", MaxUnconfirmed)).
	With("limit", MaxUnconfirmed).With("retryAfterMs", int64(60_000))

// Ensure stores the market of a call, which waits for the venue for at most limit. If the venue cannot be reached, or
// the operator has used up its reads of venues, Ensure stores a stub of status unknown, so that the call is not lost.
// If the request limit of this process is reached, it stores nothing and returns errLater. Faults: market_not_found,
// errLater, errUnconfirmed, db_unavailable.
func (s *Service) Ensure(ctx context.Context, id protocol.MarketID, operator string, limit time.Duration) error {
	v := s.fresh[id.Provider()]
	if v == nil {
		if _, found, err := s.store.FindMarket(ctx, id); err != nil || found {
			return err
		}
		return ErrNotFound
	}
	leave := v.enter(operator)
	if leave == nil {
		return s.insertStub(ctx, id, operator)
	}
	defer leave()
	wait, cancel := context.WithTimeout(ctx, min(lookupTimeout, limit))
	defer cancel()
	_, err := s.fetch(wait, id, ForFiling)
	switch {
	case errors.Is(err, ErrBusy):
		return errLater.Wrap(err)
	case !errors.Is(err, ErrUnavailable):
		return err
	}
	return s.insertStub(ctx, id, operator)
}

func (s *Service) insertStub(ctx context.Context, id protocol.MarketID, operator string) error {
	stored, err := s.store.InsertStub(ctx, id, operator, s.now())
	if err == nil && !stored {
		err = errUnconfirmed
	}
	return err
}
