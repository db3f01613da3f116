package limitless

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	// widest is the widest spread whose middle counts as a price.
	widest = wire.One / 10
	// patience is how long a market waits for its book.
	patience = 400 * time.Millisecond
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

// price reads a level that somebody can trade at.
func (l level) price() (wire.Price, bool) {
	p, ok := l.Price.Price()
	size := l.Size.Amount()
	return p, ok && p > 0 && p < wire.One && size != nil && *size > 0
}

// middle is the price between the best bid and the best ask, when they are near
// each other.
func (b *book) middle() (wire.Price, bool) {
	bid, ask := wire.Price(0), wire.One
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
	return (bid + ask) / 2, bid > 0 && ask < wire.One && bid <= ask && ask-bid <= widest
}

// bookPrice prices an open market whose record has no price yet. It is best
// effort: nil when the book has none either, or does not answer soon.
func (a *Adapter) bookPrice(ctx context.Context, slug, token string) *int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	raw, err := a.client.Get(ctx, "book", "/markets/"+slug+"/orderbook", nil)
	var b book
	if err != nil || json.Unmarshal(raw, &b) != nil || token == "" || string(b.Token) != token {
		return nil
	}
	if mid, ok := b.middle(); ok {
		return bps(mid)
	}
	return nil
}
