package polymarket

import (
	"maps"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// message is one JSON message of the stream. All its numbers are strings.
type message struct {
	Type      loosejson.Text    `json:"event_type"`
	Asset     loosejson.Text    `json:"asset_id"`
	Timestamp loosejson.Decimal `json:"timestamp"` // ms
	Price     loosejson.Decimal `json:"price"`
	Bids      []loosejson.Level `json:"bids"`
	Asks      []loosejson.Level `json:"asks"`
	BestBid   loosejson.Decimal `json:"best_bid"`
	BestAsk   loosejson.Decimal `json:"best_ask"`
	Changes   []struct {
		Asset loosejson.Text    `json:"asset_id"`
		Bid   loosejson.Decimal `json:"best_bid"`
		Ask   loosejson.Decimal `json:"best_ask"`
	} `json:"price_changes"`
}

// top contains the best bid and the best ask of a token.
type top struct{ bid, ask loosejson.Price }

// twoSided reports whether there are orders on both sides and the order book is not crossed.
func (t top) twoSided() bool { return t.bid > 0 && t.ask < loosejson.One && t.bid <= t.ask }

// orderBooks stores the best bid and ask of each token that one connection receives.
type orderBooks struct {
	*feed
	tops map[string]top // by token
}

// take processes one message. It reports whether the message is valid and is about a subscribed market. Even if a message
// does not change the prices, it updates their time, because the connection delivers every change of an order book.
func (b *orderBooks) take(m *message) bool {
	at, ok := b.moment(m.Timestamp)
	if !ok {
		b.meter.Dropped(provider, "stream_no_time")
		return false
	}
	switch m.Type {
	case "book":
		bid, ask := loosejson.Best(m.Bids, m.Asks)
		return b.set(string(m.Asset), top{bid, ask}, at)
	case "price_change":
		found := false
		for _, c := range m.Changes {
			found = b.change(string(c.Asset), c.Bid, c.Ask, at) || found
		}
		return found
	case "best_bid_ask":
		return b.change(string(m.Asset), m.BestBid, m.BestAsk, at)
	case "last_trade_price":
		s, followed := b.subscribed()[string(m.Asset)]
		if !followed {
			return false
		}
		if t := b.tops[s.Token]; t.twoSided() {
			return b.set(s.Token, t, at)
		}
		if p, ok := m.Price.Price(); ok && p > 0 && p < loosejson.One {
			p, _ = sides(p, p, s.YesIndex)
			b.publish(market.Tick{ID: s.ID, Yes: p.Bps(), At: at})
		}
		return true
	}
	return false
}

// change is like set, for prices that may be unreadable. If a price is unreadable, change deletes the stored prices of the
// token and returns false.
func (b *orderBooks) change(token string, bid, ask loosejson.Decimal, at time.Time) bool {
	low, ok1 := bid.Price()
	high, ok2 := ask.Price()
	if !ok1 || !ok2 {
		delete(b.tops, token)
		return false
	}
	return b.set(token, top{low, high}, at)
}

// forget deletes the prices of tokens that are no longer wanted.
func (b *orderBooks) forget(wanted map[string]market.Streamed) {
	maps.DeleteFunc(b.tops, func(token string, _ top) bool { _, still := wanted[token]; return !still })
}

// set stores the best bid and ask of a token. It publishes the middle price and the quote of the market, unless a side is
// empty or the spread exceeds venue.WidestSpread. It returns false if the token is not subscribed.
func (b *orderBooks) set(token string, t top, at time.Time) bool {
	s, followed := b.subscribed()[token]
	if !followed {
		return false
	}
	b.tops[token] = t
	if t.twoSided() && t.ask-t.bid <= venue.WidestSpread {
		bid, ask := sides(t.bid, t.ask, s.YesIndex)
		b.publish(market.Tick{ID: s.ID, Yes: ((bid + ask) / 2).Bps(), At: at, Quote: venue.NewQuote(ruleStream, bid, ask, at)})
	}
	return true
}

// moment parses a time in Unix milliseconds. For a time in the future it returns the current time, because a price dated in
// the future would make newer prices appear old. It returns false for an invalid time.
func (b *orderBooks) moment(ms loosejson.Decimal) (time.Time, bool) {
	n, err := strconv.ParseInt(string(ms), 10, 64)
	if err != nil || n <= 0 || n > 1<<53 {
		return time.Time{}, false
	}
	at, now := time.UnixMilli(n).UTC(), b.now()
	if at.After(now) {
		return now, true
	}
	return at, true
}
