package polymarket

import (
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

const (
	// tolerance is the greatest difference between a final price and a payout.
	tolerance = loosejson.One / 1000
	// legacyRest is the time after the end of trading from which the prices of a market without an oracle state count as its
	// payout.
	legacyRest = 7 * 24 * time.Hour
)

// derived is a market and the data that decides whether the order-book service must be requested for its winner.
type derived struct {
	market.Record
	prices  *[2]loosejson.Price // prices of both outcomes, nil without prices
	askBook bool                // the market is closed without an oracle state; its order-book record may contain the winner
	endedAt time.Time           // end of trading, zero if unknown
}

// derive returns the market that a metadata record with two outcomes describes. requested is the time of the request.
func (a *Adapter) derive(o *object, requested time.Time) (d derived) {
	d.Record = a.describe(o, requested)
	d.prices = readPrices(o)
	d.Yes = yesBps(o, d.prices, d.YesIndex)
	d.endedAt = o.ClosedTime.Time
	a.setStatus(&d, o)
	if d.Status != protocol.MarketOpen {
		d.ClosedAt = venue.Ended(requested, o.ClosedTime.Exact())
	}
	if d.ClobTokenID != "" {
		a.tokens.Put(o.ID, d.ClobTokenID)
	}
	return d
}

// setStatus sets the status of a market, and its outcome if it has one. The first matching rule applies.
func (a *Adapter) setStatus(d *derived, o *object) {
	uma := o.UMA.Normal()
	switch {
	case on(o.Archived):
		d.Status = protocol.MarketUnknown
	case uma == "disputed":
		d.Status, d.Provisional, d.Disputed = protocol.MarketClosed, true, true
	case uma != "" && uma != "resolved":
		if uma != "proposed" {
			a.gamma.UnknownWord("umaResolutionStatus", uma)
		}
		d.Status, d.Provisional = protocol.MarketClosed, true
	case uma == "resolved":
		// The result of the oracle counts only if the market is closed and its prices are a payout. Otherwise the market is
		// closed but has no result.
		d.Status, d.Provisional = protocol.MarketClosed, true
		if on(o.Closed) {
			d.resolveByPrice()
		}
	case on(o.Closed):
		d.Status, d.Provisional, d.askBook = protocol.MarketClosed, true, true
	case !on(o.BookOn) || d.ClobTokenID == "":
		// Polymarket lists outcomes that have no name yet as placeholder markets. They have no tokens, even if their record
		// shows an order book.
		d.Status = protocol.MarketUnknown
	case o.Accepting != nil && !*o.Accepting:
		d.Status = protocol.MarketClosed
	default:
		d.Status = protocol.MarketOpen
		d.Provisional = a.pastEnd && d.EndDate != nil && !d.EndDate.After(a.gamma.Now())
	}
}

// resolveByPrice settles a market if its prices are a payout: 1 and 0, 0 and 1, or 0.5 and 0.5, each within tolerance.
func (d *derived) resolveByPrice() {
	if d.prices == nil {
		return
	}
	yes, no := d.prices[d.YesIndex], d.prices[1-d.YesIndex]
	near := func(a, b loosejson.Price) bool { return yes.Near(a, tolerance) && no.Near(b, tolerance) }
	switch {
	case near(loosejson.One, 0):
		venue.Settle(&d.Record, protocol.VerdictYes, "1")
	case near(0, loosejson.One):
		venue.Settle(&d.Record, protocol.VerdictNo, "0")
	case near(loosejson.One/2, loosejson.One/2):
		venue.Settle(&d.Record, protocol.VerdictInvalid, "0.5")
	}
}

// resolveByRecord settles a closed market without an oracle state from its record at the order-book service. record is nil
// if that service has no record.
func (d *derived) resolveByRecord(record *bookRecord, now time.Time) {
	if record == nil {
		// Old markets that were resolved automatically have no record. Their prices count as the payout after legacyRest.
		// Equal prices do not count, because a market without trades has them too.
		if !d.endedAt.IsZero() && now.Sub(d.endedAt) > legacyRest {
			before := *d
			if d.resolveByPrice(); d.Verdict != nil && *d.Verdict == protocol.VerdictInvalid {
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
		venue.Settle(&d.Record, protocol.VerdictYes, "1")
	case winner >= 0:
		venue.Settle(&d.Record, protocol.VerdictNo, "0")
	case record.Half && !record.hasWinner() && d.prices != nil &&
		d.prices[0].Near(loosejson.One/2, tolerance) && d.prices[1].Near(loosejson.One/2, tolerance):
		venue.Settle(&d.Record, protocol.VerdictInvalid, "0.5")
	}
}

// readPrices returns the prices of both outcomes. It returns nil if a price is unreadable or outside 0 to 1 by more than
// tolerance. It also returns nil if both prices are zero, as on new and on very old markets.
func readPrices(o *object) *[2]loosejson.Price {
	if len(o.OutcomePrices) != 2 {
		return nil
	}
	var out [2]loosejson.Price
	for i, text := range o.OutcomePrices {
		p, ok := loosejson.ParsePrice(text)
		if !ok || p < -tolerance || p > loosejson.One+tolerance {
			return nil
		}
		out[i] = p
	}
	if out[0]+out[1] == 0 {
		return nil
	}
	return &out
}

// yesBps returns the YES price of a market: the outcome price, else the middle of an active order book, else the price of
// the last trade, else nil.
func yesBps(o *object, prices *[2]loosejson.Price, yes int) *protocol.Bps {
	first, ok := loosejson.Price(0), false
	switch bid, ask, quoted := quote(o); {
	case prices != nil:
		return new(prices[yes].Bps())
	case quoted:
		first, ok = (bid+ask)/2, true
	default:
		first, ok = o.LastTrade.Price()
		ok = ok && first > 0 && first <= loosejson.One
	}
	if !ok {
		return nil
	}
	if yes == 1 { // the order book is that of the first outcome
		first = loosejson.One - first
	}
	return new(first.Bps())
}

// quote returns the best bid and the best ask in a metadata record. ok is false if the order book is inactive, empty or
// crossed, or if a price is missing.
func quote(o *object) (bid, ask loosejson.Price, ok bool) {
	bid, haveBid := o.BestBid.Price()
	ask, haveAsk := o.BestAsk.Price()
	ok = on(o.BookOn) && haveBid && haveAsk && bid >= 0 && bid <= ask && ask <= loosejson.One && (bid > 0 || ask < loosejson.One)
	return bid, ask, ok
}

// describe returns a market with the members that are copied from the metadata record. Price, status and outcome are not
// set.
func (a *Adapter) describe(o *object, requested time.Time) market.Record {
	m := market.Record{
		ID: protocol.MarketID(o.ID), Title: loosejson.Plain(o.Question, loosejson.MaxTitle), Description: loosejson.Plain(string(o.Description), loosejson.MaxDescription),
		EndDate: o.EndDate.Second(), VolumeUnit: "usd",
		Volume: firstAmount(o.Volume, o.VolumeNum), Volume24h: o.Volume24hr.Amount(), Liquidity: firstAmount(o.Liquidity, o.LiquidityNum),
		Tags: o.words(), Slug: loosejson.Plain(string(o.Slug), loosejson.MaxWord), ConditionID: condition(string(o.ConditionID)),
		YesIndex: yesIndex(o.Outcomes), FetchedAt: requested,
	}
	m.Outcomes, m.VolumeUSD = make([]string, len(o.Outcomes)), m.Volume
	for i, label := range o.Outcomes {
		m.Outcomes[i] = loosejson.Plain(label, loosejson.MaxWord)
	}
	if len(o.ClobTokenIDs) == 2 && digits(o.ClobTokenIDs[0], maxToken) {
		m.ClobTokenID = o.ClobTokenIDs[0]
	}
	if len(o.Events) > 0 {
		m.EventKey, m.EventTitle = loosejson.Plain(string(o.Events[0].Slug), loosejson.MaxWord), loosejson.Plain(string(o.Events[0].Title), loosejson.MaxTitle)
	}
	if m.EventKey != "" {
		m.URL = "https://polymarket.com/event/" + url.PathEscape(m.EventKey)
	}
	m.ImageURL = o.Image.Link()
	m.Lane = categorise.ByTags(m.Tags)
	return m
}

func firstAmount(exact, twin loosejson.Decimal) *float64 {
	if exact != "" {
		return exact.Amount()
	}
	return twin.Amount()
}

// condition returns s if it is a condition id, which is safe in a URL path, and "" otherwise.
func condition(s string) string {
	hex, ok := strings.CutPrefix(s, "0x")
	if !ok || len(hex) != 64 || strings.Trim(strings.ToLower(hex), "0123456789abcdef") != "" {
		return ""
	}
	return s
}
