package polymarket

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// Source names of quotes from this venue. Quotes with ruleBook come from an order book, and quotes with ruleStream from
// frames of the stream. Prices of the metadata service are never a quote, because that service caches its responses.
const (
	ruleBook   = "polymarket.book"
	ruleStream = "polymarket.stream"
)

// bookTimeout is the longest time that a read waits for an order book after it has the metadata of the market.
const bookTimeout = time.Second

// orderBook is the order book of one token in JSON.
type orderBook struct {
	Token     loosejson.Text    `json:"asset_id"`
	Timestamp loosejson.Decimal `json:"timestamp"` // ms; time of the last change of the order book
	Bids      []loosejson.Level `json:"bids"`
	Asks      []loosejson.Level `json:"asks"`
	answer    *venue.Answer
}

// sides returns the bid and the ask of YES. The parameters bid and ask are the prices of the first token, which is YES if yes
// is 0 and NO if yes is 1.
func sides(bid, ask loosejson.Price, yes int) (yesBid, yesAsk loosejson.Price) {
	if yes == 1 {
		return loosejson.One - ask, loosejson.One - bid
	}
	return bid, ask
}

// at returns the time of an order book. This is the time of the response, because Timestamp is only the time of the last
// change. The time of the response is in whole seconds, so a later Timestamp has precedence if it is not after received.
func (b *orderBook) at(received time.Time) time.Time {
	ms, err := strconv.ParseInt(string(b.Timestamp), 10, 64)
	if err != nil || b.answer.At.IsZero() {
		return b.answer.At
	}
	if changed := time.UnixMilli(ms).UTC(); changed.After(b.answer.At) && !changed.After(received) {
		return changed
	}
	return b.answer.At
}

// price sets the quote of an open market from the order book of its first token, and the price of the market to the middle
// of bid and ask. It changes nothing if b is nil, belongs to another token, or gives no quote.
func (b *orderBook) price(m *market.Record, received time.Time) {
	if b == nil || m.Status != protocol.MarketOpen || m.ClobTokenID == "" || string(b.Token) != m.ClobTokenID {
		return
	}
	bid, ask := loosejson.Best(b.Bids, b.Asks)
	bid, ask = sides(bid, ask, m.YesIndex)
	if m.Quote = b.answer.QuoteAt(ruleBook, bid, ask, b.at(received)); m.Quote != nil {
		m.Yes = new(((bid + ask) / 2).Bps())
	}
}

// readBook reads the order book of one token. It returns nil if the token has no order book or the request fails.
func (a *Adapter) readBook(ctx context.Context, token string) *orderBook {
	answer, err := a.clob.Read(ctx, "book", "/book", url.Values{"token_id": {token}})
	if err != nil {
		return nil
	}
	b := orderBook{answer: &answer}
	if json.Unmarshal(answer.Body, &b) != nil {
		a.clob.Dropped("undecodable_book")
		return nil
	}
	return &b
}

// readBooks reads the order books of many tokens in one request and returns them by token. It omits tokens without an order
// book. If the request fails, it returns nil.
func (a *Adapter) readBooks(ctx context.Context, tokens []string) map[string]*orderBook {
	if len(tokens) == 0 {
		return nil
	}
	type side struct {
		TokenID string `json:"token_id"`
	}
	list := make([]side, len(tokens))
	for i, t := range tokens {
		list[i].TokenID = t
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	answer, err := a.clob.Post(ctx, "books", "/books", body)
	if err != nil {
		return nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(answer.Body, &raw) != nil {
		a.clob.Dropped("undecodable_book")
		return nil
	}
	out := make(map[string]*orderBook, len(raw))
	for _, r := range raw {
		b := &orderBook{answer: &answer}
		if json.Unmarshal(r, b) != nil {
			a.clob.Dropped("undecodable_book")
			continue
		}
		out[string(b.Token)] = b
	}
	return out
}

// inBackground calls the function read in a new goroutine. The returned function waits for the result. If there is none
// after bookTimeout, or if ctx ends, it returns the zero value. The read ends with ctx, which the caller must cancel.
func inBackground[T any](ctx context.Context, read func(context.Context) T) (wait func() T) {
	done := make(chan T, 1)
	go func() { done <- read(ctx) }()
	return func() (result T) {
		timer := time.NewTimer(bookTimeout)
		defer timer.Stop()
		select {
		case result = <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		return result
	}
}
