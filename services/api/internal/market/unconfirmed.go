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
	// unconfirmedEvery is the time between two rounds that read unconfirmed markets from their venues.
	unconfirmedEvery = 10 * time.Second
	// unconfirmedPause is the shortest time between two requests for one unconfirmed market.
	unconfirmedPause = time.Minute
	// unconfirmedBatch is the largest number of unconfirmed markets that one round requests.
	unconfirmedBatch = 20
	// unconfirmedFor is the longest time that a call waits until the venue confirms its market. The call is then voided.
	unconfirmedFor = 48 * time.Hour
)

// ReadUnconfirmed reads markets with unconfirmed calls from their venues. If the venue confirms a market, the calls on it
// are published. ReadUnconfirmed voids calls on markets that the venue does not have, and calls that have waited for
// unconfirmedFor.
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

// errLater rejects a call on a market that is not stored, if the limit of requests to its venue is reached.
var errLater = apperr.New(apperr.Unavailable, "signal_service_unavailable",
	"the market is not stored yet, and the limit of requests to its venue is reached; retry in 1 s").
	With("retryAfterMs", 1000)

// MaxUnconfirmed is the largest number of calls of one operator on markets that their venues have not confirmed.
const MaxUnconfirmed = 20

// errUnconfirmed rejects a call on an unconfirmed market if the operator already has MaxUnconfirmed such calls.
var errUnconfirmed = apperr.New(apperr.Limited, "rate_limited", fmt.Sprintf(
	"limit of %d calls on markets without a confirmation of the venue reached; file calls on other markets, or retry later",
	MaxUnconfirmed)).
	With("limit", MaxUnconfirmed).With("retryAfterMs", int64(60_000))

// Ensure makes sure that the market of a call is stored. It waits for the venue of the market for at most the duration
// limit. If the venue cannot be reached or the operator has reached its limit of reads, Ensure stores the market with the
// status unknown, so that the call is not lost. If the request limit of this process is reached, it stores nothing. Errors:
// market_not_found, errLater, errUnconfirmed, db_unavailable.
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
