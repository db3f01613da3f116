package record

import (
	"fmt"
	"strings"
	"time"
)

// tolerance is how far below the market a call is scored at most, from a time on.
type tolerance struct {
	Since time.Time `json:"since"`
	Bps   int       `json:"bps"`
}

// handover is how long a tolerance may be in use after the next one began: the
// processes of a service are replaced one after the other.
const handover = 5 * time.Minute

// Bounds of quotes: the oldest one at a call, and the last one that a result uses.
const (
	quoteAge      = 15 * time.Minute
	confirmWithin = 10 * time.Minute
)

// quote is the price of each side at a time of the venue's clock.
type quote struct {
	Yes    int       `json:"yesPriceBps"`
	No     int       `json:"noPriceBps"`
	At     time.Time `json:"at"`
	Rule   string    `json:"rule"`
	SHA256 *string   `json:"sha256"`
}

// of returns the price of a side.
func (q *quote) of(side string) int {
	if side == "NO" {
		return q.No
	}
	return q.Yes
}

func checkTolerances(list []tolerance, d *differences) {
	for i, t := range list {
		at := fmt.Sprintf("priceTolerances[%d]", i)
		d.that(t.Bps >= 0 && t.Bps <= 10000, at+".bps", t.Bps, "0 to 10000")
		if i == 0 {
			d.that(t.Since.Equal(time.Unix(0, 0)), at+".since", stamp(&t.Since), "1970-01-01T00:00:00.000Z")
			continue
		}
		d.that(t.Since.After(list[i-1].Since), at+".since", stamp(&t.Since), "behind the one before")
	}
}

// held are the tolerances under which a call may have been filed.
func held(list []tolerance, at time.Time) (out []int) {
	for i, t := range list {
		over := i+1 < len(list) && !at.Before(list[i+1].Since.Add(handover))
		if !at.Before(t.Since) && !over {
			out = append(out, t.Bps)
		}
	}
	return out
}

// checkPrice recomputes the scoring price at the filing and the final one. It reports whether
// that was possible: a verified call of the time before quotes has none.
func (c *call) checkPrice(h *head, d *differences) bool {
	d.that(c.Price >= 0 && c.Price <= 10000, "priceAtPrediction", c.Price, "0 to 10000")
	d.that(c.Filing >= c.Price && c.Filing <= 10000, "filingBasisBps", c.Filing, "at least the price, at most 10000")
	c.checkQuotes(h, d)
	final := c.Filing
	if c.SecondQuote != nil {
		final = max(final, c.SecondQuote.of(c.Direction))
	}
	d.same("scoreBasisBps", c.Basis, final)
	if !c.Verified {
		d.same("filingBasisBps", c.Filing, c.Price)
		return true
	}
	bounds := held(h.Tolerances, c.CreatedAt)
	d.that(len(bounds) > 0, "priceTolerances", plain("nothing"), "the one that applied at the call")
	side, known := c.side()
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
	d.that(len(bounds) == 0, "filingBasisBps", c.Filing, plain(strings.Join(wanted, " or ")))
	return true
}

// side returns the price of the called side at the filing.
func (c *call) side() (bps int, known bool) {
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

// checkQuotes checks the times of both quotes, and that only verified calls have them.
func (c *call) checkQuotes(h *head, d *differences) {
	d.that(c.Verified || c.Quote == nil && c.QuoteAt == nil, "quote", stamp(c.QuoteAt), "null, of an unverified call")
	d.that(c.Verified || c.SecondQuote == nil, "secondQuote", stamp(c.ConfirmedAt), "null, of an unverified call")
	d.that(among(c.MarketYes, 0, 10000), "marketYesAtSignal", show(c.MarketYes), "0 to 10000")
	d.that(among(c.InitialYes, 0, 10000), "initialYesBps", show(c.InitialYes), "0 to 10000")
	d.same("quoteAt", stamp(c.QuoteAt), c.Quote.stamp())
	d.same("confirmedAt", stamp(c.ConfirmedAt), c.SecondQuote.stamp())
	for name, q := range map[string]*quote{"quote": c.Quote, "secondQuote": c.SecondQuote} {
		if q != nil {
			d.that(!c.native() && among(&q.Yes, 1, 9999) && among(&q.No, 1, 9999), name, plain(fmt.Sprint(q.Yes, " and ", q.No)), "prices from 1 to 9999, of a venue market")
		}
	}
	if q := c.Quote; q != nil {
		d.that(!q.At.Before(c.CreatedAt.Add(-quoteAge)), "quote.at", stamp(&q.At), "not older than 15 minutes")
	}
	q := c.SecondQuote
	if q == nil {
		return
	}
	after := q.At.Sub(c.CreatedAt)
	d.that(h.ConfirmAfter > 0 && after >= time.Second && after <= confirmWithin, "secondQuote.at", stamp(&q.At), "1 second to 10 minutes after the call")
	d.that(c.Resolution != nil && !q.At.After(c.Resolution.CloseAt), "secondQuote.at", stamp(&q.At), "before closeAt")
}

func (q *quote) stamp() plain {
	if q == nil {
		return "null"
	}
	return stamp(&q.At)
}

func (c *call) native() bool { return strings.HasPrefix(c.MarketID, "native-") }
