package signalcast

import (
	"context"
	"iter"

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
