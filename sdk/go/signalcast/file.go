package signalcast

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Signals files calls and reads calls, their history and the feeds of calls.
type Signals struct{ c *Client }

// DefaultMaxSlippageBps is the maximum slippage, in basis points, that the client sends if a draft has none. The service rejects
// a call if the current price of its side is more than this above the stated price.
const DefaultMaxSlippageBps = 200

// Numbers contains the prices that the ledger stores with a call, or would store after a dry run. A field is zero if the server
// does not return it.
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

// Filed is the result of filing a call: the id of the stored call and its prices.
type Filed struct {
	ID uuid.UUID
	// Found reports that a response was lost and a retry found the stored call.
	Found bool
	Numbers
}

// FileOptions contains options for filing a call. The zero value selects the defaults of Signals.File.
type FileOptions struct {
	// IdempotencyKey has 1 to 128 characters. For 24 hours, filing the same call with the same key returns the first result, also
	// after a restart of the program. If empty, the client generates a key.
	IdempotencyKey string
	// AllowUnverified stores the call without points if the market has no fresh quote, instead of failing with ErrPriceMoved and
	// the reason unverified. A moved price is still rejected. False leaves AllowUnverified of the draft unchanged.
	AllowUnverified bool
}

// File files a call with a new Idempotency-Key. Errors: ErrAlreadyPredicted, where Error.ID returns the ID of the stored call;
// ErrPriceMoved; ErrMarketClosed; ErrMarketNotFound; and errors for invalid members.
func (s Signals) File(ctx context.Context, draft client.SignalDraft) (Filed, error) {
	return s.FileWith(ctx, draft, FileOptions{})
}

// FileAs files a call like File, with key as the Idempotency-Key.
func (s Signals) FileAs(ctx context.Context, key string, draft client.SignalDraft) (Filed, error) {
	return s.FileWith(ctx, draft, FileOptions{IdempotencyKey: key})
}

// FileWith files a call like File, with the options o.
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
	return s.storedCall(ctx, err, draft.MarketID, draft.Direction, draft.PriceAtPrediction)
}

type filedAnswer struct {
	ID uuid.UUID `json:"id"`
	Numbers
}

// DryRun validates a call like File and returns the prices that File would store. It stores nothing. The server sends no request
// to the venue, so a call without a cached quote is unverified.
func (s Signals) DryRun(ctx context.Context, draft client.SignalDraft) (Numbers, error) {
	yes := true
	draft.DryRun = &yes
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, false)
	return read[Numbers](s.c.Hub.FileSignal(ctx, nil, draft))
}

// Create files a call through POST /api/protocol/v1/signals. The credential is an operator key or a token of an app. The hub
// signs the message of the call. A draft without PriceBps gets the newest price of the side.
func (s Signals) Create(ctx context.Context, draft client.CreationDraft) (client.Created, error) {
	return s.CreateWith(ctx, draft, FileOptions{})
}

// CreateWith files a call like Create, with the options o.
func (s Signals) CreateWith(ctx context.Context, draft client.CreationDraft, o FileOptions) (client.Created, error) {
	key := cmp.Or(o.IdempotencyKey, rand.Text())
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, o.AllowUnverified)
	return read[client.Created](s.c.Hub.CreateSignal(ctx, &client.CreateSignalParams{IdempotencyKey: &key}, draft))
}

// DryRunCreate validates a call like Create and returns the prices that Create would store. It stores nothing.
func (s Signals) DryRunCreate(ctx context.Context, draft client.CreationDraft) (Numbers, error) {
	yes := true
	draft.DryRun = &yes
	setBound(&draft.MaxSlippageBps, &draft.AllowUnverified, false)
	return read[Numbers](s.c.Hub.CreateSignal(ctx, nil, draft))
}

// setBound sets the maximum slippage to DefaultMaxSlippageBps if the draft has none. If allow is true, it also sets
// AllowUnverified of the draft.
func setBound(bound **int, unverified **bool, allow bool) {
	if *bound == nil {
		most := DefaultMaxSlippageBps
		*bound = &most
	}
	if allow {
		*unverified = &allow
	}
}

// storedCall decides whether an earlier attempt, whose response was lost, has filed the call. refused is the error of the retry.
// If it is ErrAlreadyPredicted and the stored call has the same market, side and price, storedCall returns the stored call.
// Otherwise it returns refused, joined with any error of reading the stored call.
func (s Signals) storedCall(ctx context.Context, refused error, market string, side client.Side, price int) (Filed, error) {
	e := (*Error)(nil)
	if !errors.Is(refused, ErrAlreadyPredicted) || !errors.As(refused, &e) {
		return Filed{}, refused
	}
	id, err := uuid.Parse(e.ID())
	if err != nil {
		return Filed{}, refused
	}
	stored, err := s.Get(ctx, id)
	if err != nil {
		return Filed{}, errors.Join(refused, err)
	}
	if stored.MarketID != market || stored.Direction != side || stored.PriceAtPrediction != price {
		return Filed{}, refused
	}
	return Filed{ID: id, Found: true, Numbers: Numbers{
		PriceAtPrediction: stored.PriceAtPrediction, ScoreBasisBps: stored.ScoreBasisBps, PriceVerified: stored.PriceVerified,
		Rated: stored.Rated, MarketYesBps: stored.MarketYesAtSignal,
	}}, nil
}
