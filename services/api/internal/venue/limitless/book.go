package limitless

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// patience bounds the read of a book, which a market can do without.
const patience = 400 * time.Millisecond

// The sources of quotes: the prices at which a market order buys, and the order book.
const (
	rulePrices = "limitless.prices"
	ruleBook   = "limitless.book"
)

// book is the YES side of an order book.
type book struct {
	Bids  []level   `json:"bids"`
	Asks  []level   `json:"asks"`
	Token wire.Text `json:"tokenId"`
}

type level struct {
	Price wire.Decimal `json:"price"`
	Size  wire.Decimal `json:"size"`
}

// price reads a level that has a size.
func (l level) price() (wire.Price, bool) {
	p, ok := l.Price.Price()
	size := l.Size.Amount()
	return p, ok && p > 0 && p < wire.One && size != nil && *size > 0
}

// best returns the best bid and the best ask; a side without orders has 0 or 1.
func (b *book) best() (bid, ask wire.Price) {
	ask = wire.One
	for _, l := range b.Bids {
		if p, ok := l.price(); ok {
			bid = max(bid, p)
		}
	}
	for _, l := range b.Asks {
		if p, ok := l.price(); ok {
			ask = min(ask, p)
		}
	}
	return bid, ask
}

// quote returns the quote of an open market's record, or nil.
func (o *object) quote(m *venue.Market, answer *venue.Answer) *market.Quote {
	yes, no, ok := pair(o.TradePrices.Buy.Market)
	if !ok || m.Status != venue.Open {
		return nil
	}
	return answer.Quote(rulePrices, wire.One-no, yes)
}

// readBook fills in what the record of an open order-book market lacks: its quote, and its
// price as the middle of the book. Without an answer within patience both stay as they are.
func (a *Adapter) readBook(ctx context.Context, m *venue.Market, o *object) {
	priced := m.YesBps != nil && len(o.TradePrices.Buy.Market) > 0
	if m.Status != venue.Open || !o.orderBook() || priced {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	if m.YesBps == nil && bid > 0 && ask < wire.One && bid <= ask && ask-bid <= venue.WidestSpread {
		m.YesBps = bps((bid + ask) / 2)
	}
}
