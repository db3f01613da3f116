package signalcast

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Signals are calls, their history and the feeds around them.
type Signals struct{ c *Client }

// DefaultMaxSlippageBps is the bound that File and Create send where the draft has none: a
// call is refused when its side costs more than this above the stated price.
const DefaultMaxSlippageBps = 200

// Numbers are what the ledger stores with a call, or what a dry run would store. A server
// that does not answer them leaves them zero.
type Numbers struct {
	PriceAtPrediction int  `json:"priceAtPrediction"` // stated price, after conversion
	ScoreBasisBps     int  `json:"scoreBasisBps"`     // scoring price at filing
	PriceVerified     bool `json:"priceVerified"`     // false: the call does not count in points
	Rated             bool `json:"rated"`             // false: the call does not count in points
	MarketYesBps      *int `json:"marketYesBps"`
	YesPriceBps       *int `json:"yesPriceBps"` // nil: no quote
	NoPriceBps        *int `json:"noPriceBps"`

	Warnings []string `json:"warnings"` // price_converted, price_off_market, price_unverified, market_unrated
}

// Filed is a stored call.
type Filed struct {
	ID uuid.UUID
	// Found: an answer was lost, and the same call was found when it was filed again.
	Found bool
	Numbers
}

// FileOptions say how a call is filed. The zero value is what File does.
type FileOptions struct {
	// IdempotencyKey has 1 to 128 characters: for 24 hours the same call under the same key is
	// the same call, also in another run of a program that never got its answer. Empty: a new one.
	IdempotencyKey string
	// AllowUnverified files a call without points where the market has no fresh quote, instead
	// of ErrPriceMoved with the reason unverified. A price that moved is still refused. False
	// leaves AllowUnverified of the draft as it is.
	AllowUnverified bool
}

// File files a call under an Idempotency-Key of its own. Errors: ErrAlreadyPredicted, whose
// Error.ID is the locked call, ErrPriceMoved, ErrMarketClosed, ErrMarketNotFound and those of
// the fields.
func (s Signals) File(ctx context.Context, draft client.SignalDraft) (Filed, error) {
	return s.FileWith(ctx, draft, FileOptions{})
}

// FileAs is File under a given Idempotency-Key.
func (s Signals) FileAs(ctx context.Context, key string, draft client.SignalDraft) (Filed, error) {
	return s.FileWith(ctx, draft, FileOptions{IdempotencyKey: key})
}

// FileWith is File with options.
func (s Signals) FileWith(ctx context.Context, draft client.SignalDraft, o FileOptions) (Filed, error) {
	key := cmp.Or(o.IdempotencyKey, rand.Text())
	ctx, tries := withAccount(ctx)
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, o.AllowUnverified)
	filed, err := read[filedAnswer](s.c.Hub.FileSignal(ctx, &client.FileSignalParams{IdempotencyKey: &key}, draft))
	if err == nil {
		return Filed{ID: filed.ID, Numbers: filed.Numbers}, nil
	}
	if !tries.lost {
		return Filed{}, err
	}
	return s.standing(ctx, err, draft.MarketID, draft.Direction, draft.PriceAtPrediction)
}

type filedAnswer struct {
	ID uuid.UUID `json:"id"`
	Numbers
}

// DryRun checks a call as File does and stores nothing; it answers what File would store.
// The server asks no venue for it, so a call without a known quote is not verified.
func (s Signals) DryRun(ctx context.Context, draft client.SignalDraft) (Numbers, error) {
	yes := true
	draft.DryRun = &yes
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, false)
	return read[Numbers](s.c.Hub.FileSignal(ctx, nil, draft))
}

// Create files a call by P/signals, with a key or a token of an app; the hub attests it.
// Without PriceBps it is filed at the newest price of the side.
func (s Signals) Create(ctx context.Context, draft client.CreationDraft) (client.Created, error) {
	return s.CreateWith(ctx, draft, FileOptions{})
}

// CreateWith is Create with options.
func (s Signals) CreateWith(ctx context.Context, draft client.CreationDraft, o FileOptions) (client.Created, error) {
	key := cmp.Or(o.IdempotencyKey, rand.Text())
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, o.AllowUnverified)
	return read[client.Created](s.c.Hub.CreateSignal(ctx, &client.CreateSignalParams{IdempotencyKey: &key}, draft))
}

// DryRunCreate checks a call as Create does and stores nothing.
func (s Signals) DryRunCreate(ctx context.Context, draft client.CreationDraft) (Numbers, error) {
	yes := true
	draft.DryRun = &yes
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, false)
	return read[Numbers](s.c.Hub.CreateSignal(ctx, nil, draft))
}

// setBound sets the members of a draft that limit its price. A draft without a bound has
// DefaultMaxSlippageBps.
func setBound(bound **int, unverified **bool, allow bool) {
	if *bound == nil {
		most := DefaultMaxSlippageBps
		*bound = &most
	}
	if allow {
		*unverified = &allow
	}
}

// standing reads the locked call that already_predicted names after an answer was lost. It
// is always the caller's own. With the same side and price it is what was filed; with any
// other it returns the refusal.
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
	return Filed{ID: id, Found: true, Numbers: Numbers{
		PriceAtPrediction: stands.PriceAtPrediction, ScoreBasisBps: stands.ScoreBasisBps, PriceVerified: stands.PriceVerified,
		Rated: stands.Rated, MarketYesBps: stands.MarketYesAtSignal,
	}}, nil
}
