package venuetest

import "github.com/signalcast/signalcast/services/api/internal/market"

// ValidQuote reports whether a quote is nil or within the bounds of all quotes: prices from 1
// to 9999 bps that together cost at least 1 and, rounded up, at most the widest spread more.
func ValidQuote(q *market.Quote) bool {
	if q == nil {
		return true
	}
	sum := q.Yes + q.No
	return q.Yes >= 1 && q.Yes <= 9999 && q.No >= 1 && q.No <= 9999 && sum >= 10_000 && sum <= 11_001 && !q.At.IsZero() && q.Rule != ""
}
