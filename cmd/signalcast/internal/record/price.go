package record

import (
	"fmt"
	"strings"
	"time"
)

// tolerance is the maximum number of bps by which a scoring price may be below the market price. It applies to calls at or
// after the time Since.
type tolerance struct {
	Since time.Time `json:"since"`
	Bps   int       `json:"bps"`
}

// overlap is the time after a change of the tolerance in which a process may still use the previous tolerance, because the
// processes of a service are replaced one after the other.
const overlap = 5 * time.Minute

// Time limits of the quotes of a call, relative to the time of the call.
const (
	quoteAge      = 15 * time.Minute // the quote at the filing must not be older
	confirmWithin = 10 * time.Minute // the second quote must be within this time after the call
)

// quote contains the market prices of both sides at one time of the venue's clock.
type quote struct {
	Yes    int       `json:"yesPriceBps"`
	No     int       `json:"noPriceBps"`
	At     time.Time `json:"at"`
	Rule   string    `json:"rule"`
	SHA256 *string   `json:"sha256"`
}

// of returns the price of a side in bps. side is "YES" or "NO".
func (q *quote) of(side string) int {
	if side == "NO" {
		return q.No
	}
	return q.Yes
}

// checkTolerances checks that each tolerance is 0 to 10000 bps, that the first begins at 1970-01-01T00:00:00Z, and that they
// are in chronological order.
func checkTolerances(list []tolerance, d *differences) {
	for i, t := range list {
		at := fmt.Sprintf("priceTolerances[%d]", i)
		d.require(t.Bps >= 0 && t.Bps <= 10000, at+".bps", t.Bps, "0 to 10000")
		if i == 0 {
			d.require(t.Since.Equal(time.Unix(0, 0)), at+".since", stamp(&t.Since), "1970-01-01T00:00:00.000Z")
			continue
		}
		d.require(t.Since.After(list[i-1].Since), at+".since", stamp(&t.Since), "after the previous one")
	}
}

// tolerancesAt returns the tolerances that a process may have applied to a call at a time, in bps.
func tolerancesAt(list []tolerance, at time.Time) (out []int) {
	for i, t := range list {
		over := i+1 < len(list) && !at.Before(list[i+1].Since.Add(overlap))
		if !at.Before(t.Since) && !over {
			out = append(out, t.Bps)
		}
	}
	return out
}

// checkPrice computes two prices of the call again: the scoring price at the filing and the final scoring price. It returns
// false if the call is verified but the record does not contain the market price at the filing.
func (c *call) checkPrice(h *head, d *differences) bool {
	d.require(c.Price >= 0 && c.Price <= 10000, "priceAtPrediction", c.Price, "0 to 10000")
	d.require(c.Filing >= c.Price && c.Filing <= 10000, "filingBasisBps", c.Filing, "at least the price, at most 10000")
	c.checkQuotes(h, d)
	final := c.Filing
	if c.SecondQuote != nil {
		final = max(final, c.SecondQuote.of(c.Direction))
	}
	d.equal("scoreBasisBps", c.Basis, final)
	if !c.Verified {
		d.equal("filingBasisBps", c.Filing, c.Price)
		return true
	}
	bounds := tolerancesAt(h.Tolerances, c.CreatedAt)
	d.require(len(bounds) > 0, "priceTolerances", plain("nothing"), "the tolerance at the time of the call")
	side, known := c.sidePrice()
	if !known {
		return false
	}
	var wanted []string
	for _, bps := range bounds {
		basis := max(c.Price, side-bps)
		if basis == c.Filing {
			return true
		}
		wanted = append(wanted, fmt.Sprint(basis))
	}
	d.require(len(bounds) == 0, "filingBasisBps", c.Filing, plain(strings.Join(wanted, " or ")))
	return true
}

// sidePrice returns the market price in bps of the side of the call when the call was filed. On a native market this is the
// higher of the initial and the current price of the side. known is false if the record does not contain the price.
func (c *call) sidePrice() (bps int, known bool) {
	if !c.native() {
		if c.Quote == nil {
			return 0, false
		}
		return c.Quote.of(c.Direction), true
	}
	if c.MarketYes == nil || c.InitialYes == nil {
		return 0, false
	}
	if c.Direction == "NO" {
		return 10000 - min(*c.MarketYes, *c.InitialYes), true
	}
	return max(*c.MarketYes, *c.InitialYes), true
}

// checkQuotes checks the prices and times of the first and the second quote, and that only verified calls have quotes.
func (c *call) checkQuotes(h *head, d *differences) {
	d.require(c.Verified || c.Quote == nil && c.QuoteAt == nil, "quote", stamp(c.QuoteAt), "null, of an unverified call")
	d.require(c.Verified || c.SecondQuote == nil, "secondQuote", stamp(c.ConfirmedAt), "null, of an unverified call")
	d.require(inRange(c.MarketYes, 0, 10000), "marketYesAtSignal", show(c.MarketYes), "0 to 10000")
	d.require(inRange(c.InitialYes, 0, 10000), "initialYesBps", show(c.InitialYes), "0 to 10000")
	d.equal("quoteAt", stamp(c.QuoteAt), c.Quote.stamp())
	d.equal("confirmedAt", stamp(c.ConfirmedAt), c.SecondQuote.stamp())
	for name, q := range map[string]*quote{"quote": c.Quote, "secondQuote": c.SecondQuote} {
		if q != nil {
			valid := !c.native() && inRange(&q.Yes, 1, 9999) && inRange(&q.No, 1, 9999)
			d.require(valid, name, plain(fmt.Sprint(q.Yes, " and ", q.No)), "prices from 1 to 9999, of a venue market")
		}
	}
	if q := c.Quote; q != nil {
		d.require(!q.At.Before(c.CreatedAt.Add(-quoteAge)), "quote.at", stamp(&q.At), "not older than 15 minutes")
	}
	q := c.SecondQuote
	if q == nil {
		return
	}
	after := q.At.Sub(c.CreatedAt)
	inTime := h.ConfirmAfter > 0 && after >= time.Second && after <= confirmWithin
	d.require(inTime, "secondQuote.at", stamp(&q.At), "1 second to 10 minutes after the call")
	d.require(c.Resolution != nil && !q.At.After(c.Resolution.CloseAt), "secondQuote.at", stamp(&q.At), "before closeAt")
}

// stamp returns the time of the quote as text, or "null" if q is nil.
func (q *quote) stamp() plain {
	if q == nil {
		return "null"
	}
	return stamp(&q.At)
}

func (c *call) native() bool { return strings.HasPrefix(c.MarketID, "native-") }
