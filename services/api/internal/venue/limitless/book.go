package limitless

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// bookTimeout is the timeout of the read of an order book. A market is usable without it.
const bookTimeout = 400 * time.Millisecond

// Source names of quotes from this venue. Quotes with rulePrices contain the prices at which market orders buy. Quotes with
// ruleBook come from an order book.
const (
	rulePrices = "limitless.prices"
	ruleBook   = "limitless.book"
)

// book is the JSON order book of the YES token of a market.
type book struct {
	Bids  []loosejson.Level `json:"bids"`
	Asks  []loosejson.Level `json:"asks"`
	Token loosejson.Text    `json:"tokenId"`
}

// best returns the best bid and the best ask among the prices between 0 and 1. Without orders, the bid is 0 and the ask is
// 1.
func (b *book) best() (bid, ask loosejson.Price) {
	outside := func(l loosejson.Level) bool {
		p, ok := l.Price.Price()
		return !ok || p <= 0 || p >= loosejson.One
	}
	return loosejson.Best(slices.DeleteFunc(b.Bids, outside), slices.DeleteFunc(b.Asks, outside))
}

// quote returns the quote in the record of an open market. It returns nil if the market is not open or a price is missing.
func (o *object) quote(m *market.Record, answer *venue.Answer) *market.Quote {
	yes, no, ok := pair(o.TradePrices.Buy.Market)
	if !ok || m.Status != protocol.MarketOpen {
		return nil
	}
	return answer.Quote(rulePrices, loosejson.One-no, yes)
}

// readBook reads the order book of an open order-book market if its record lacks the price or the prices for a quote. It
// sets the missing quote from the order book. It sets the missing price to the middle between bid and ask. If the order book
// is not available within bookTimeout, readBook changes nothing.
func (a *Adapter) readBook(ctx context.Context, m *market.Record, o *object) {
	priced := m.Yes != nil && len(o.TradePrices.Buy.Market) > 0
	if m.Status != protocol.MarketOpen || !o.orderBook() || priced {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bookTimeout)
	defer cancel()
	raw, err := a.client.Read(ctx, "book", "/markets/"+m.Slug+"/orderbook", nil)
	var b book
	if err != nil || json.Unmarshal(raw.Body, &b) != nil || m.ClobTokenID == "" || string(b.Token) != m.ClobTokenID {
		return
	}
	bid, ask := b.best()
	if m.Quote == nil {
		m.Quote = raw.Quote(ruleBook, bid, ask)
	}
	if middle, ok := loosejson.Middle(bid, ask, venue.WidestSpread); ok && m.Yes == nil {
		m.Yes = new(middle.Bps())
	}
}
