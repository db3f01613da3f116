package signalcast

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Signals are calls, their history and the feeds around them.
type Signals struct{ c *Client }

// Filed is a call that stands.
type Filed struct {
	ID uuid.UUID
	// Found: an answer was lost, and the call was found to stand when it was filed again.
	Found bool
}

// File files a call under an Idempotency-Key of its own. Errors: ErrAlreadyPredicted, whose
// Error.ID is the call that stands, ErrMarketClosed, ErrMarketNotFound and those of the fields.
func (s Signals) File(ctx context.Context, draft client.SignalDraft) (Filed, error) {
	return s.FileAs(ctx, rand.Text(), draft)
}

// FileAs files a call under a key of 1 to 128 characters: for 24 hours the same call under the
// same key is the same call, also in another run of a program that never got its answer.
func (s Signals) FileAs(ctx context.Context, key string, draft client.SignalDraft) (Filed, error) {
	ctx, tries := withAccount(ctx)
	filed, err := read[client.Filed](s.c.Hub.FileSignal(ctx, &client.FileSignalParams{IdempotencyKey: &key}, draft))
	if err == nil {
		return Filed{ID: filed.ID}, nil
	}
	if !tries.lost {
		return Filed{}, err
	}
	return s.standing(ctx, err, draft.MarketID, draft.Direction, draft.PriceAtPrediction)
}

// Create files a call by P/signals, with a key or a token of an app; the hub attests it.
// Without PriceBps it is filed at the side's price of now.
func (s Signals) Create(ctx context.Context, draft client.CreationDraft) (client.Created, error) {
	key := rand.Text()
	return read[client.Created](s.c.Hub.CreateSignal(ctx, &client.CreateSignalParams{IdempotencyKey: &key}, draft))
}

// standing looks at what is meant by already_predicted after an answer was lost. The id is
// always that of a call of the caller's own, since nobody else's stands in the way. With the
// same side and price it is what was filed; anything else is the error that came.
func (s Signals) standing(ctx context.Context, refused error, market string, side client.Side, price int) (Filed, error) {
	e := (*Error)(nil)
	if !errors.Is(refused, ErrAlreadyPredicted) || !errors.As(refused, &e) {
		return Filed{}, refused
	}
	id, err := uuid.Parse(e.ID())
	if err != nil {
		return Filed{}, refused
	}
	stands, err := s.Get(ctx, id)
	if err != nil {
		return Filed{}, errors.Join(refused, err)
	}
	if stands.MarketID != market || stands.Direction != side || stands.PriceAtPrediction != price {
		return Filed{}, refused
	}
	return Filed{ID: id, Found: true}, nil
}
