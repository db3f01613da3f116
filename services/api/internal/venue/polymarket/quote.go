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

// The sources of quotes: a book that was read, and frames of the stream. Prices of the
// metadata service are never a quote, because its answers are cached at the edge.
const (
	ruleBook   = "polymarket.book"
	ruleStream = "polymarket.stream"
)

// patience is how long a market waits for its book after its metadata.
const patience = time.Second

// orderBook is the order book of one token.
type orderBook struct {
	Token     loosejson.Text    `json:"asset_id"`
	Timestamp loosejson.Decimal `json:"timestamp"` // ms; when the book changed last
	Bids      []loosejson.Level `json:"bids"`
	Asks      []loosejson.Level `json:"asks"`
	answer    *venue.Answer
}

// sides returns bid and ask of YES from those of the first token, which is NO when yes is 1.
func sides(bid, ask loosejson.Price, yes int) (yesBid, yesAsk loosejson.Price) {
	if yes == 1 {
		return loosejson.One - ask, loosejson.One - bid
	}
	return bid, ask
}

// at returns the time of the book: that of the answer, because a book that does not change
// keeps its timestamp. Date has whole seconds, so a later timestamp counts instead.
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

// price sets the quote of an open market from the book of its first token, and its price to
// the middle of that quote. A book that is no quote changes nothing.
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

// readBook reads the book of one token; nil when there is none or no answer.
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

// readBooks reads the books of many tokens in one request. Tokens without a book are left
// out; without an answer all are.
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

// inBackground starts a read. The returned function waits for its result, at most for patience.
// The read ends with ctx, which the caller must cancel.
func inBackground[T any](ctx context.Context, read func(context.Context) T) (wait func() T) {
	done := make(chan T, 1)
	go func() { done <- read(ctx) }()
	return func() (result T) {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case result = <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		return result
	}
}
