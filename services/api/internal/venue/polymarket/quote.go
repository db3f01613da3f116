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

// Sources of quotes: an order book that was read, and frames of the stream. Prices of the metadata service are never a
// quote, because the venue caches its answers.
const (
	ruleBook   = "polymarket.book"
	ruleStream = "polymarket.stream"
)

// bookTimeout is the longest time that a market waits for its order book after its metadata.
const bookTimeout = time.Second

// orderBook is the order book of one token.
type orderBook struct {
	Token     loosejson.Text    `json:"asset_id"`
	Timestamp loosejson.Decimal `json:"timestamp"` // ms; time of the last change of the order book
	Bids      []loosejson.Level `json:"bids"`
	Asks      []loosejson.Level `json:"asks"`
	answer    *venue.Answer
}

// sides returns bid and ask of YES from those of the first token, which is NO if yes is 1.
func sides(bid, ask loosejson.Price, yes int) (yesBid, yesAsk loosejson.Price) {
	if yes == 1 {
		return loosejson.One - ask, loosejson.One - bid
	}
	return bid, ask
}

// at returns the time of the order book. It is the time of the answer, because the timestamp of an order book is the
// time of its last change. Date is in whole seconds, so a later timestamp has precedence.
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

// price sets the quote of an open market from the order book of its first token, and the price of the market to the
// middle of that quote. It changes nothing if the order book gives no quote.
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

// readBook reads the order book of one token. It returns nil if there is none or after an error.
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

// readBooks reads the order books of many tokens in one request. It omits tokens without an order book. After an error
// it returns nil.
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

// inBackground starts a read. The returned function waits for its result, but not longer than bookTimeout; it then
// returns the zero value. The read ends with ctx, which the caller must cancel.
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
