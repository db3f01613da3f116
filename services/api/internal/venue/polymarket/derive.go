package polymarket

import (
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	// tolerance is how near a final price must be to a payout.
	tolerance = wire.One / 1000
	// legacyRest is how long a market without any oracle word must have been
	// closed before its pinned price is believed.
	legacyRest = 7 * 24 * time.Hour
)

// The words of the outcome oracle.
const (
	umaProposed = "proposed"
	umaDisputed = "disputed"
	umaResolved = "resolved"
)

// derived is a market and what is still to be asked about it.
type derived struct {
	venue.Market
	prices   *[2]wire.Price // of both outcomes, nil when there are none
	askBook  bool           // closed without an oracle word: the order-book record may know the winner
	restedAt time.Time      // when trading ended, zero when unknown
}

// derive makes a market of a record; ok is false for one that has not exactly
// two outcomes, on which no YES or NO call can be made.
func (a *Adapter) derive(o *object, asked time.Time) (d derived, ok bool) {
	if len(o.Outcomes) != 2 {
		return d, false
	}
	d.Market = a.describe(o, asked)
	d.prices = readPrices(o)
	d.YesBps = yesBps(o, d.prices, d.YesIndex)
	d.restedAt = o.ClosedTime.Time
	a.standing(&d, o)
	if d.Status != venue.Open {
		d.ClosedAt = venue.Ended(asked, o.ClosedTime.Exact())
	}
	if d.ClobTokenID != "" {
		a.tokens.Put(d.ID, d.ClobTokenID)
	}
	return d, true
}

// standing applies the rules of status and outcome; the first that fits wins.
func (a *Adapter) standing(d *derived, o *object) {
	uma := strings.ToLower(strings.TrimSpace(string(o.UMA)))
	switch {
	case on(o.Archived):
		d.Status = venue.Unknown
	case uma == umaDisputed:
		d.Status, d.Provisional, d.Disputed = venue.Closed, true, true
	case uma != "" && uma != umaResolved:
		if uma != umaProposed {
			a.meter.UnknownWord(provider, "umaResolutionStatus", uma)
		}
		d.Status, d.Provisional = venue.Closed, true
	case uma == umaResolved:
		// The final word is believed only with closed and a clear price; without
		// them the market is over for us all the same.
		d.Status, d.Provisional = venue.Closed, true
		if on(o.Closed) {
			d.resolveByPrice()
		}
	case on(o.Closed):
		d.Status, d.Provisional, d.askBook = venue.Closed, true, true
	case !on(o.BookOn) || d.ClobTokenID == "":
		d.Status = venue.Unknown // placeholders have no tokens, whatever their flag says
	case o.Accepting != nil && !*o.Accepting:
		d.Status = venue.Closed
	default:
		d.Status = venue.Open
		d.Provisional = a.pastEnd && d.EndDate != nil && !d.EndDate.After(a.now())
	}
}

// resolveByPrice settles a market whose prices are a payout.
func (d *derived) resolveByPrice() {
	if d.prices == nil {
		return
	}
	yes, no := d.prices[d.YesIndex], d.prices[1-d.YesIndex]
	near := func(a, b wire.Price) bool { return yes.Near(a, tolerance) && no.Near(b, tolerance) }
	switch {
	case near(wire.One, 0):
		d.resolve("YES", "1")
	case near(0, wire.One):
		d.resolve("NO", "0")
	case near(wire.One/2, wire.One/2):
		d.resolve("INVALID", "0.5")
	}
}

func (d *derived) resolve(outcome, payout string) {
	d.Status, d.Settled, d.Provisional = venue.Resolved, true, false
	d.Outcome, d.Payout = outcome, &payout
}

// resolveByRecord settles a closed market without an oracle word by the record of the
// order-book service; record is nil when that service has none.
func (d *derived) resolveByRecord(record *bookRecord, now time.Time) {
	if record == nil {
		// Old automatically resolved markets are in no book: their pinned price
		// counts once nothing can move it any more. Half and half does not: it is
		// also where a market stands that nobody traded.
		if !d.restedAt.IsZero() && now.Sub(d.restedAt) > legacyRest {
			before := *d
			if d.resolveByPrice(); d.Outcome == "INVALID" {
				*d = before
			}
		}
		return
	}
	if !record.Closed {
		return
	}
	switch winner := record.winner(d.Outcomes); {
	case winner == d.YesIndex:
		d.resolve("YES", "1")
	case winner >= 0:
		d.resolve("NO", "0")
	case record.Half && !record.anyWinner() && d.prices != nil &&
		d.prices[0].Near(wire.One/2, tolerance) && d.prices[1].Near(wire.One/2, tolerance):
		d.resolve("INVALID", "0.5")
	}
}

// readPrices gives the outcome prices when both can be read, lie within 0 and 1
// and are not both zero, as they are on new and on very old markets.
func readPrices(o *object) *[2]wire.Price {
	if len(o.OutcomePrices) != 2 {
		return nil
	}
	var out [2]wire.Price
	for i, text := range o.OutcomePrices {
		p, ok := wire.ParsePrice(text)
		if !ok || p < -tolerance || p > wire.One+tolerance {
			return nil
		}
		out[i] = p
	}
	if out[0]+out[1] == 0 {
		return nil
	}
	return &out
}

// yesBps is the outcome price, else the middle of the book while it is on, else
// the last trade, else nothing.
func yesBps(o *object, prices *[2]wire.Price, yes int) *int {
	first, ok := wire.Price(0), false
	switch bid, ask, quoted := quote(o); {
	case prices != nil:
		bps := prices[yes].Bps()
		return &bps
	case quoted:
		first, ok = (bid+ask)/2, true
	default:
		first, ok = o.LastTrade.Price()
		ok = ok && first > 0 && first <= wire.One
	}
	if !ok {
		return nil
	}
	if yes == 1 { // the book is that of the first outcome
		first = wire.One - first
	}
	bps := first.Bps()
	return &bps
}

// quote gives best bid and ask of a book that is on and not empty.
func quote(o *object) (bid, ask wire.Price, ok bool) {
	bid, haveBid := o.BestBid.Price()
	ask, haveAsk := o.BestAsk.Price()
	ok = on(o.BookOn) && haveBid && haveAsk && bid >= 0 && bid <= ask && ask <= wire.One && (bid > 0 || ask < wire.One)
	return bid, ask, ok
}

// describe copies what needs no judgement.
func (a *Adapter) describe(o *object, asked time.Time) venue.Market {
	m := venue.Market{
		ID: o.ID, Question: wire.Plain(o.Question, maxQuestion), Description: wire.Plain(string(o.Description), maxDescription),
		EndDate: o.EndDate.Second(), VolumeUnit: "usd",
		Volume: firstAmount(o.Volume, o.VolumeNum), Volume24h: o.Volume24hr.Amount(), Liquidity: firstAmount(o.Liquidity, o.LiquidityNum),
		Tags: o.words(), Slug: wire.Plain(string(o.Slug), maxWord), ConditionID: condition(string(o.ConditionID)),
		YesIndex: yesIndex(o.Outcomes), FetchedAt: asked,
	}
	for i, label := range o.Outcomes {
		m.Outcomes[i] = wire.Plain(label, maxWord)
	}
	if len(o.ClobTokenIDs) == 2 && digits(o.ClobTokenIDs[0], maxToken) {
		m.ClobTokenID = o.ClobTokenIDs[0]
	}
	if len(o.Events) > 0 {
		m.EventKey, m.EventTitle = wire.Plain(string(o.Events[0].Slug), maxWord), wire.Plain(string(o.Events[0].Title), maxQuestion)
	}
	if m.EventKey != "" {
		m.ProofURL = "https://polymarket.com/event/" + url.PathEscape(m.EventKey)
	}
	if u, err := url.Parse(string(o.Image)); err == nil && u.Scheme == "https" && u.Host != "" && len(o.Image) <= maxQuestion {
		m.ImageURL = u.String()
	}
	m.VenueLane = string(categorise.ByTags(m.Tags))
	placed := categorise.Classify(m.Question, m.Tags)
	m.Lane, m.Category = string(placed.Lane), placed.Category
	return m
}

func firstAmount(exact, twin wire.Decimal) *float64 {
	if exact != "" {
		return exact.Amount()
	}
	return twin.Amount()
}

// condition keeps only the one form that may be put into a path.
func condition(s string) string {
	hex, ok := strings.CutPrefix(s, "0x")
	if !ok || len(hex) != 64 || strings.Trim(strings.ToLower(hex), "0123456789abcdef") != "" {
		return ""
	}
	return s
}
