package client

import (
	"context"
	"net/http"
	"time"
)

// Call is a prediction to file.
type Call struct {
	Market string
	Yes    bool
	Price  int
	Key    string // Idempotency-Key; empty: none
	More   map[string]any
}

// Side is the word for the side called.
func (c Call) Side() string {
	if c.Yes {
		return "YES"
	}
	return "NO"
}

// File files a call at a hub.
func (c *Client) File(ctx context.Context, hub string, as Credential, call Call) Answer {
	body := map[string]any{"marketId": call.Market, "direction": call.Side(), "priceAtPrediction": call.Price}
	for name, value := range call.More {
		body[name] = value
	}
	r := Request{URL: hub + "/api/predictions", As: as, Body: body}
	if call.Key != "" {
		r.Header = http.Header{"Idempotency-Key": {call.Key}}
	}
	return c.Do(ctx, r)
}

// Market makes a native market that stays open for a month.
func (c *Client) Market(ctx context.Context, hub string, as Admin, question string, initialYes int) (string, error) {
	var out struct {
		MarketID string `json:"marketId"`
	}
	err := c.Do(ctx, Request{URL: hub + "/api/admin/markets", As: as, Body: map[string]any{
		"question": question, "lane": "OTHER", "initialYesBps": initialYes,
		"cutoffAt": time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339),
	}}).Into(http.StatusCreated, &out)
	return out.MarketID, err
}

// Finalize claims the outcome of a native market.
func (c *Client) Finalize(ctx context.Context, hub string, as Admin, market, verdict string) Answer {
	return c.Do(ctx, Request{
		URL: hub + "/api/resolution/finalize", As: as, Timeout: 2 * time.Minute,
		Body: map[string]any{"marketId": market, "verdict": verdict},
	})
}

// Force claims the outcome of any market.
func (c *Client) Force(ctx context.Context, hub string, as Admin, market, verdict string) Answer {
	return c.Do(ctx, Request{
		URL: hub + "/api/admin/resolve-signals", As: as, Timeout: 2 * time.Minute,
		Body: map[string]any{"marketId": market, "outcome": verdict},
	})
}

// Scan asks the venues for outcomes: by POST, or by the GET of the scheduler.
func (c *Client) Scan(ctx context.Context, hub string, as Admin) Answer {
	return c.Do(ctx, Request{
		Method: http.MethodPost, URL: hub + "/api/admin/resolve-signals", As: as, Timeout: 2 * time.Minute,
	})
}

// ScanByCron is Scan by its alias.
func (c *Client) ScanByCron(ctx context.Context, hub, secret string) Answer {
	return c.Do(ctx, Request{URL: hub + "/api/admin/resolve-signals?secret=" + secret, Timeout: 2 * time.Minute})
}

// Dispute flags a market or clears its flag.
func (c *Client) Dispute(ctx context.Context, hub string, as Admin, market string, disputed bool) Answer {
	return c.Do(ctx, Request{
		URL: hub + "/api/resolution/dispute", As: as, Timeout: 2 * time.Minute,
		Body: map[string]any{"marketId": market, "disputed": disputed, "reason": "checked again"},
	})
}

// VenueMarket makes a market at the simulated venue.
func (c *Client) VenueMarket(ctx context.Context, venues, question string, yes float64) (string, error) {
	var out struct {
		ID string `json:"id"`
	}
	err := c.Do(ctx, Request{URL: venues + "/sim/polymarket/markets", Body: map[string]any{
		"question": question, "yesPrice": yes,
	}}).Into(http.StatusCreated, &out)
	return out.ID, err
}

// VenueResolves makes the simulated venue decide a market.
func (c *Client) VenueResolves(ctx context.Context, venues, id, verdict string) error {
	return c.Do(ctx, Request{URL: venues + "/sim/polymarket/markets/" + id, Body: map[string]any{
		"state": "resolved", "outcome": verdict,
	}}).Into(http.StatusOK, nil)
}
