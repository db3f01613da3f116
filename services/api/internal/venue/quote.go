package venue

import (
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// WidestSpread is the widest spread between bid and ask that is a quote.
const WidestSpread = wire.One / 10

// NewQuote returns the quote of a book whose best bid and best ask of YES are given: YES
// costs the ask, NO costs 1 minus the bid, both in bps and rounded up. It returns nil when
// this is no quote: a side is empty (a bid of 0, an ask of 1), the book is crossed, the
// spread is above WidestSpread, a side costs less than 1 or more than 9999 bps, or the
// time is zero.
func NewQuote(rule string, bid, ask wire.Price, at time.Time) *market.Quote {
	if at.IsZero() || bid <= 0 || ask >= wire.One || bid > ask || ask-bid > WidestSpread {
		return nil
	}
	yes, no := ask.BpsUp(), (wire.One - bid).BpsUp()
	if yes < 1 || yes > 9999 || no < 1 || no > 9999 {
		return nil
	}
	return &market.Quote{Yes: syntax.Bps(yes), No: syntax.Bps(no), At: at.UTC().Truncate(time.Millisecond), Rule: rule}
}

// Quote returns the quote of a book in the answer, dated At; see NewQuote.
func (a *Answer) Quote(rule string, bid, ask wire.Price) *market.Quote {
	return a.QuoteAt(rule, bid, ask, a.At)
}

// QuoteAt is Quote for an answer that dates the book itself.
func (a *Answer) QuoteAt(rule string, bid, ask wire.Price, at time.Time) *market.Quote {
	q := NewQuote(rule, bid, ask, at)
	if q != nil {
		q.SHA256 = a.SHA256
	}
	return q
}

// Ended returns the earliest of the times that is not after now, in milliseconds, or nil.
// Zero times do not count.
func Ended(now time.Time, times ...time.Time) *time.Time {
	var first *time.Time
	for _, t := range times {
		if t.IsZero() || t.After(now) {
			continue
		}
		if t = t.UTC().Truncate(time.Millisecond); first == nil || t.Before(*first) {
			first = &t
		}
	}
	return first
}
