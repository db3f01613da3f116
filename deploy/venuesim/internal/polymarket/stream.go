package polymarket

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// stream is one websocket connection to the market channel.
type stream struct {
	*Service
	tokens  map[string]int64      // subscribed tokens to the numbers of their markets
	sent    map[int64][]world.Top // last sent books by market
	version uint64                // version of the world at the last poll
	second  int64                 // Unix time of the last poll
}

// Open implements venue.Streamer.
func (s *Service) Open() venue.Session {
	return &stream{Service: s, tokens: map[string]int64{}, sent: map[int64][]world.Top{}}
}

// Follows implements venue.Session.
func (st *stream) Follows() []int64 { return slices.Collect(maps.Keys(st.sent)) }

// Receive implements venue.Session. Unknown messages get no reply.
func (st *stream) Receive(message []byte) []any {
	if string(message) == "PING" {
		return []any{venue.Text("PONG")}
	}
	var in struct {
		Type      string   `json:"type"`
		Operation string   `json:"operation"`
		Tokens    []string `json:"assets_ids"`
	}
	if json.Unmarshal(message, &in) != nil {
		return nil
	}
	switch {
	case in.Type == "market" || in.Operation == "subscribe":
		return []any{st.follow(in.Tokens)}
	case in.Operation == "unsubscribe":
		for _, t := range in.Tokens {
			delete(st.tokens, t)
		}
		followed := slices.Collect(maps.Values(st.tokens))
		maps.DeleteFunc(st.sent, func(id int64, _ []world.Top) bool { return !slices.Contains(followed, id) })
	}
	return nil
}

// follow subscribes to tokens and returns the order book of each token that trades. It ignores the other tokens.
func (st *stream) follow(tokens []string) []venue.Object {
	books := []venue.Object{}
	for _, t := range tokens {
		m, b, ok := st.trading(t)
		if !ok {
			continue
		}
		st.tokens[t] = m.ID
		if st.sent[m.ID] == nil {
			st.sent[m.ID] = m.Tops()
		}
		o := st.bookObject(&m, b)
		o["event_type"], o["last_trade_price"] = "book", b.Ask.Decimals(2)
		delete(o, "min_order_size")
		delete(o, "neg_risk")
		books = append(books, o)
	}
	return books
}

// Poll implements venue.Session. Prices change with the clock, at most once a second, and when a test changes them.
func (st *stream) Poll() (out []any) {
	version, second := st.world.Version(), st.world.Now().Unix()
	if version == st.version && second == st.second {
		return nil
	}
	st.version, st.second = version, second
	for _, id := range slices.Sorted(maps.Keys(st.sent)) {
		m, ok := st.world.Get(id)
		if tops := m.Tops(); ok && !m.Finished() && !slices.Equal(tops, st.sent[id]) {
			out = append(out, st.moved(&m, st.sent[id], tops)...)
			st.sent[id] = tops
		}
	}
	return out
}

// moved returns the events for a market whose best bids and asks changed: each changed price level, and one trade for each
// subscribed token.
func (st *stream) moved(m *world.Market, from, to []world.Top) []any {
	changes := []venue.Object{}
	change := venue.Object{"event_type": "price_change", "market": m.ConditionID, "timestamp": st.stamp()}
	out := []any{change}
	for i, token := range m.Tokens {
		before, after := newBook(token, from[i]), newBook(token, to[i])
		add := func(side string, from, to []level) {
			for _, l := range differences(from, to) {
				changes = append(changes, venue.Object{
					"asset_id": token, "price": l.Price, "size": l.Size, "side": side, "hash": after.hash,
					"best_bid": after.Bid.Decimals(2), "best_ask": after.Ask.Decimals(2),
				})
			}
		}
		add("BUY", before.bids, after.bids)
		add("SELL", before.asks, after.asks)
		if _, followed := st.tokens[token]; followed {
			out = append(out, venue.Object{
				"event_type": "last_trade_price", "asset_id": token, "market": m.ConditionID, "fee_rate_bps": "0",
				"price": after.Ask.Decimals(2), "side": "BUY", "size": "10", "timestamp": st.stamp(),
			})
		}
	}
	change["price_changes"] = changes
	return out
}

// differences returns the levels that changed between two states of one side of an order book. Size 0 means that the level was
// removed.
func differences(from, to []level) (out []level) {
	for _, l := range from {
		if !slices.ContainsFunc(to, func(n level) bool { return n.Price == l.Price }) {
			out = append(out, level{l.Price, "0"})
		}
	}
	for _, l := range to {
		if !slices.Contains(from, l) {
			out = append(out, l)
		}
	}
	return out
}
