package polymarket

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/socket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// mostTokens is how many a connection may follow: above it nothing comes any
// more, and nothing says so.
const mostTokens = 500

// order is what a client says: the first message, and later ones.
type order struct {
	Type      string   `json:"type"`
	Operation string   `json:"operation"`
	Tokens    []string `json:"assets_ids"`
	Dump      *bool    `json:"initial_dump"`
	More      bool     `json:"custom_feature_enabled"`
}

// stream is one connection of the market channel.
type stream struct {
	*Service
	more    bool              // events that only those get who ask for them
	tokens  map[string]int64  // followed ones, with their markets
	shown   map[int64]*showed // by market
	version uint64            // of the world at the last beat
	second  int64             // of the last beat
}

// showed is what was sent last of a market.
type showed struct {
	tops  []world.Top
	final bool
}

// Stream makes the session of a new connection of the market channel.
func (s *Service) Stream() socket.Session {
	return &stream{Service: s, tokens: map[string]int64{}, shown: map[int64]*showed{}}
}

// Follows implements socket.Session.
func (st *stream) Follows() []int64 { return slices.Collect(maps.Keys(st.shown)) }

// Take implements socket.Session. What is not understood is not answered.
func (st *stream) Take(message []byte) []any {
	if bytes.Equal(message, []byte("PING")) {
		return []any{socket.Text("PONG")}
	}
	var o order
	if json.Unmarshal(message, &o) != nil {
		return nil
	}
	switch {
	case o.Type == "market", o.Operation == "subscribe":
		st.more = st.more || o.More
		books := st.follow(o.Tokens)
		if len(st.tokens) > mostTokens || o.Dump != nil && !*o.Dump {
			return nil
		}
		return []any{books}
	case o.Operation == "unsubscribe":
		for _, t := range o.Tokens {
			delete(st.tokens, t)
		}
		kept := slices.Collect(maps.Values(st.tokens))
		maps.DeleteFunc(st.shown, func(id int64, _ *showed) bool { return !slices.Contains(kept, id) })
	}
	return nil
}

// follow takes tokens up and gives the books of those that are trading; of the
// others nothing will ever come, so they are not kept.
func (st *stream) follow(tokens []string) []bookEvent {
	books := []bookEvent{}
	for _, t := range tokens {
		one, ok := st.trading(t)
		if !ok || len(st.tokens) > mostTokens {
			continue
		}
		m := &one.m
		st.tokens[t] = m.ID
		if st.shown[m.ID] == nil {
			st.shown[m.ID] = &showed{tops: m.Tops()}
		}
		b := sides(t, one.top)
		books = append(books, bookEvent{
			Type: "book", AssetID: t, Market: m.ConditionID, Bids: b.bids, Asks: b.asks, Timestamp: st.stamp(), Hash: b.hash,
			TickSize: tick.String(), LastTradePrice: b.Ask.Fixed(),
		})
	}
	return books
}

func (st *stream) stamp() string { return strconv.FormatInt(st.world.Now().UnixMilli(), 10) }

// Beat implements socket.Session. Prices change with the clock, once a second at
// most, and when a test changes something.
func (st *stream) Beat() (out []any) {
	version, second := st.world.Version(), st.world.Now().Unix()
	if version == st.version && second == st.second || len(st.tokens) > mostTokens {
		return nil
	}
	st.version, st.second = version, second
	for _, id := range slices.Sorted(maps.Keys(st.shown)) {
		m, ok := st.world.Get(id)
		if !ok {
			continue
		}
		if m.Finished() {
			out = append(out, st.ended(&m)...)
			continue
		}
		was := st.shown[id]
		was.final = false
		if tops := m.Tops(); !slices.Equal(tops, was.tops) {
			out = append(out, st.moved(&m, was.tops, tops)...)
			was.tops = tops
		}
	}
	return out
}

// ended tells once that a market has its result, to those who asked for that.
func (st *stream) ended(m *world.Market) []any {
	if was := st.shown[m.ID]; !st.more || m.State != world.Resolved || was.final {
		return nil
	}
	st.shown[m.ID].final = true
	e := resolvedEvent{
		Type: "market_resolved", ID: strconv.FormatInt(m.ID, 10), Market: m.ConditionID, Assets: m.Tokens, Timestamp: st.stamp(), Tags: []string{},
	}
	if i := slices.Index(m.Prices(), world.One); i >= 0 && i < len(m.Tokens) {
		e.Winner, e.Outcome = m.Tokens[i], m.Outcomes[i]
	}
	for _, t := range m.Tags {
		e.Tags = append(e.Tags, t.Slug)
	}
	return []any{e}
}

// moved sends new tops: every level of the market's books that differs, and for the tokens
// that are followed a trade at the new price.
func (st *stream) moved(m *world.Market, from, to []world.Top) []any {
	at := st.stamp()
	change := changeEvent{Type: "price_change", Market: m.ConditionID, Changes: []levelChange{}, Timestamp: at}
	var more []any
	for i, t := range m.Tokens {
		was, is := sides(t, from[i]), sides(t, to[i])
		for _, side := range []struct {
			word     string
			from, to []clobLevel
		}{{"BUY", was.bids, is.bids}, {"SELL", was.asks, is.asks}} {
			for _, l := range differing(side.from, side.to) {
				change.Changes = append(change.Changes, levelChange{
					AssetID: t, Price: l.Price, Size: l.Size, Side: side.word, Hash: is.hash, BestBid: is.Bid.Fixed(), BestAsk: is.Ask.Fixed(),
				})
			}
		}
		if _, followed := st.tokens[t]; !followed {
			continue
		}
		more = append(more, tradeEvent{
			Type: "last_trade_price", AssetID: t, Market: m.ConditionID, FeeRateBps: "0", Price: is.Ask.Fixed(), Side: "BUY", Size: "10", Timestamp: at,
		})
		if st.more {
			more = append(more, topEvent{
				Type: "best_bid_ask", Market: m.ConditionID, AssetID: t, BestBid: is.Bid.Fixed(), BestAsk: is.Ask.Fixed(),
				Spread: (is.Ask - is.Bid).Fixed(), Timestamp: at,
			})
		}
	}
	return append([]any{change}, more...)
}

// differing gives the levels that turn one side of a book into another; a size of
// 0 takes a level away.
func differing(from, to []clobLevel) (out []clobLevel) {
	for _, l := range from {
		if !slices.ContainsFunc(to, func(n clobLevel) bool { return n.Price == l.Price }) {
			out = append(out, clobLevel{l.Price, "0"})
		}
	}
	for _, l := range to {
		if !slices.Contains(from, l) {
			out = append(out, l)
		}
	}
	return out
}
