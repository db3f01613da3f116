package signalcast

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Markets reads markets of the venues and native markets, with their calls.
type Markets struct{ c *Client }

// Search returns all markets that match the search words and the lane in params, in the requested order.
func (m Markets) Search(ctx context.Context, params *client.FindMarketsParams) iter.Seq2[client.MarketRow, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.MarketRows, error) {
		q := q
		q.Cursor = cursor
		return read[client.MarketRows](m.c.Hub.FindMarkets(ctx, &q))
	}, func(r client.MarketRows) ([]client.MarketRow, *string) { return r.Markets, r.NextCursor })
}

// MarketFilter selects the markets of Markets.List. A zero field selects all.
type MarketFilter struct {
	Q                         string // search words
	Provider                  string // venue: polymarket, kalshi, limitless or manifold; manual for native markets
	Lane                      string
	Status                    string // open, closed or resolved
	ClosesAfter, ClosesBefore time.Time
	MinVolumeUSD              float64
	IDs                       []string // at most 100
	Sort                      string   // volume, closes, newest, calls or move; empty: volume
	PageSize                  int      // markets of one request, at most 100; 0: 100
}

// List returns the markets of all venues and native markets that match the filter, in its order.
func (m Markets) List(ctx context.Context, f MarketFilter) iter.Seq2[client.ListedMarket, error] {
	q := client.ListMarketsParams{
		Q: given(f.Q), Provider: given(f.Provider), Lane: given(f.Lane), Status: given(f.Status), Sort: given(f.Sort),
		Ids: given(strings.Join(f.IDs, ",")), ClosesAfter: given(f.ClosesAfter), ClosesBefore: given(f.ClosesBefore),
		MinVolumeUsd: given(float32(f.MinVolumeUSD)), Limit: given(f.PageSize),
	}
	return pages(nil, func(cursor *string) (client.MarketList, error) {
		q := q
		q.Cursor = cursor
		return read[client.MarketList](m.c.Hub.ListMarkets(ctx, &q))
	}, func(l client.MarketList) ([]client.ListedMarket, *string) { return l.Markets, l.NextCursor })
}

// given returns a pointer to v, or nil for the zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Get returns a market of a venue or a native market. If no market has this ID, the error is ErrMarketNotFound.
func (m Markets) Get(ctx context.Context, id string) (client.Market, error) {
	return read[client.Market](m.c.Hub.GetMarket(ctx, id))
}

// Crowd returns the summary of the calls on a market.
func (m Markets) Crowd(ctx context.Context, id string) (client.Crowd, error) {
	return read[client.Crowd](m.c.Hub.GetCrowd(ctx, id))
}

// Ledger returns the calls on a market, newest first. An unknown market has none.
func (m Markets) Ledger(ctx context.Context, id string, params *client.ListMarketSignalsParams) iter.Seq2[client.LedgerSignal, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.MarketLedger, error) {
		q := q
		q.Cursor = cursor
		return read[client.MarketLedger](m.c.Hub.ListMarketSignals(ctx, id, &q))
	}, func(l client.MarketLedger) ([]client.LedgerSignal, *string) { return l.Signals, l.NextCursor })
}

// Outcome returns the resolution of a market. Its outcome is nil while the market is unresolved.
func (m Markets) Outcome(ctx context.Context, id string) (client.OutcomeAnswer, error) {
	return read[client.OutcomeAnswer](m.c.Hub.GetOutcome(ctx, &client.GetOutcomeParams{Market: id}))
}
