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

// errLater refuses a call on a market that is not known yet and whose venue cannot be asked.
var errLater = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the market is not known yet and its venue has no time, try again").
	With("retryAfterMs", 1000)

// MaxUnconfirmed is how many calls of one operator wait for their venues to confirm the market.
const MaxUnconfirmed = 20

// errUnconfirmed refuses a call beyond MaxUnconfirmed.
var errUnconfirmed = apperr.New(apperr.Limited, "rate_limited", fmt.Sprintf(
	"%d of your calls wait until their venues confirm the market; call on known markets, or try again later", MaxUnconfirmed)).
	With("limit", MaxUnconfirmed).With("retryAfterMs", int64(60_000))

// Ensure brings a market into the ledger for a call of an operator, which waits for the venue
// at most limit. A venue that cannot be reached leaves a stub of status unknown, so that the
// call is not lost, and so does an operator that has used up the reads of Fresh. A client
// without a free request leaves nothing. Faults: market_not_found, errLater, errUnconfirmed,
// db_unavailable.
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
	wait, cancel := context.WithTimeout(ctx, min(patience, limit))
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
