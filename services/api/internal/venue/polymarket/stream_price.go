package polymarket

import (
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// widest is the widest spread whose middle counts as a live price; of a wider
// book the next read tells one.
const widest = wire.One / 10

// message is one word of the venue; all its numbers are strings.
type message struct {
	Type      wire.Text    `json:"event_type"`
	Asset     wire.Text    `json:"asset_id"`
	Timestamp wire.Decimal `json:"timestamp"` // ms
	Price     wire.Decimal `json:"price"`
	Bids      []struct {
		Price wire.Decimal `json:"price"`
	} `json:"bids"`
	Asks []struct {
		Price wire.Decimal `json:"price"`
	} `json:"asks"`
	Changes []struct {
		Asset wire.Text    `json:"asset_id"`
		Bid   wire.Decimal `json:"best_bid"`
		Ask   wire.Decimal `json:"best_ask"`
	} `json:"price_changes"`
}

// board is what one connection knows of the books that it follows.
type board struct {
	*feed
	twoSided map[string]bool // tokens whose book gives a price, so that trades do not
}

// take reads the price of a message; it says whether the message was about a
// market that is followed.
func (b *board) take(m *message) bool {
	at, ok := b.moment(m.Timestamp)
	if !ok {
		b.meter.Dropped(provider, "stream_no_time")
		return false
	}
	wanted := b.follows()
	switch m.Type {
	case "book":
		bid, ask := wire.Price(0), wire.One
		for _, l := range m.Bids {
			if p, ok := l.Price.Price(); ok {
				bid = max(bid, p)
			}
		}
		for _, l := range m.Asks {
			if p, ok := l.Price.Price(); ok {
				ask = min(ask, p)
			}
		}
		return b.middle(wanted, string(m.Asset), bid, ask, at)
	case "price_change":
		found := false
		for _, c := range m.Changes {
			bid, ok1 := c.Bid.Price()
			ask, ok2 := c.Ask.Price()
			if ok1 && ok2 && b.middle(wanted, string(c.Asset), bid, ask, at) {
				found = true
			}
		}
		return found
	case "last_trade_price":
		s, followed := wanted[string(m.Asset)]
		if p, ok := m.Price.Price(); followed && ok && p > 0 && p < wire.One && !b.twoSided[string(m.Asset)] {
			b.say(s, p, at)
		}
		return followed
	}
	return false // tick sizes, and what is none of ours
}

// middle tells the price between the best bid and ask, when they are near each other.
func (b *board) middle(wanted map[string]market.Streamed, token string, bid, ask wire.Price, at time.Time) bool {
	s, followed := wanted[token]
	if !followed {
		return false
	}
	b.twoSided[token] = bid > 0 && ask < wire.One && bid <= ask
	if b.twoSided[token] && ask-bid <= widest {
		b.say(s, (bid+ask)/2, at)
	}
	return true
}

func (b *board) say(s market.Streamed, p wire.Price, at time.Time) {
	if s.YesIndex == 1 { // the token is that of NO
		p = wire.One - p
	}
	b.tell(market.Tick{ID: s.ID, Yes: syntax.Bps(p.Bps()), At: at})
}

// moment reads a time; one that has not come yet is now, because a price that is
// ahead of its time would keep newer ones out.
func (b *board) moment(ms wire.Decimal) (time.Time, bool) {
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
