package limitless

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

// percent is the divisor of prices on the scale of 0 to 100. Prices have this scale if the sum of the YES and NO price is
// greater than maxSum.
const (
	percent = 100
	maxSum  = loosejson.One + loosejson.One/2
)

// parent is the group to which a market belongs. The record of the market does not contain it.
type parent struct{ slug, title string }

// derive returns the market that a market record and its group describe. requested is the time of the request.
func (a *Adapter) derive(o *object, p parent, requested time.Time) market.Record {
	id, _ := protocol.NewMarketID(protocol.Limitless, string(o.Slug)) // decode checked the form
	m := market.Record{
		ID: id, Title: question(o, p), Description: loosejson.Plain(string(o.Description), loosejson.MaxDescription),
		EndDate: o.Expiration.Second(), VolumeUnit: "usd", Volume: o.Volume.Amount(), VolumeUSD: o.Volume.Amount(),
		Outcomes: []string{"Yes", "No"},
		Slug:     string(o.Slug), EventKey: p.slug, EventTitle: p.title, Tags: o.words(), ImageURL: o.Image.Link(),
		URL: "https://limitless.exchange/markets/" + url.PathEscape(string(o.Slug)), FetchedAt: requested,
	}
	if isHex(string(o.ConditionID), hexHash) {
		m.ConditionID = string(o.ConditionID)
	}
	if o.orderBook() {
		m.ClobTokenID = o.token()
	} else {
		m.Liquidity = o.Liquidity.Amount()
	}
	a.setStatus(&m, o)
	if m.Yes = yesBps(o); m.Payout != nil {
		if p, ok := loosejson.ParsePrice(*m.Payout); ok {
			m.Yes = new(p.Bps())
		}
	}
	if m.Status != protocol.MarketOpen {
		m.ClosedAt = venue.Ended(a.client.Now(), o.Expiration.Exact())
	}
	if m.Status == protocol.MarketResolved && isHex(string(o.Tx), hexHash) {
		m.URL = "https://basescan.org/tx/" + string(o.Tx)
	}
	m.Lane = lane(o, m.Tags)
	return m
}

// question returns the title of a market. If the market belongs to a group, the title of the group is placed before it,
// because the title of the market is then only a name. The title of the group is not repeated.
func question(o *object, p parent) string {
	title := loosejson.Plain(string(o.Title), loosejson.MaxTitle)
	if p.title == "" || strings.Contains(strings.ToLower(title), strings.ToLower(p.title)) {
		return title
	}
	return loosejson.Plain(p.title+": "+title, loosejson.MaxTitle)
}

// lane returns the content lane that follows from the topic words of a market. Without a known word, a market of an hourly
// or daily series is a crypto market.
func lane(o *object, words []string) protocol.Lane {
	if found := categorise.ByTags(words); found != protocol.LaneOther {
		return found
	}
	for _, c := range o.Categories {
		if word := c.Normal(); word == "hourly" || word == "daily" {
			return protocol.LaneCrypto
		}
	}
	return protocol.LaneOther
}

// setStatus sets the status of a market, and its outcome if it has one, from its record. A status or a kind of market that is
// not known gives protocol.MarketUnknown.
func (a *Adapter) setStatus(m *market.Record, o *object) {
	if kind := o.MarketType.Normal(); kind != "" && kind != "single" {
		a.client.UnknownWord("marketType", kind)
		m.Status = protocol.MarketUnknown // the rules of this kind of market are unknown
		return
	}
	if kind := o.TradeType.Normal(); kind != "clob" && kind != "amm" {
		a.client.UnknownWord("tradeType", kind)
	}
	switch word := o.Status.Normal(); word {
	case "funded", "funded_flagged":
		m.Status = protocol.MarketOpen
		if o.Expired != nil && *o.Expired || m.EndDate != nil && !m.EndDate.After(a.client.Now()) {
			m.Status = protocol.MarketClosed
		}
	case "locked": // the venue uses this status for a pause and for a pending decision
		m.Status, m.Provisional = protocol.MarketClosed, true
	case "disputed":
		m.Status, m.Provisional, m.Disputed = protocol.MarketClosed, true, true
	case "resolved":
		a.settle(m, o)
	case "draft", "created":
		m.Status = protocol.MarketUnknown
	default:
		a.client.UnknownWord("status", word)
		m.Status = protocol.MarketUnknown
	}
}

// settle sets the outcome of a market that the venue shows as resolved. The market is closed without an outcome if its winner
// is unknown, or if it has neither a winner nor equal payouts.
func (a *Adapter) settle(m *market.Record, o *object) {
	switch o.Winner {
	case "0":
		venue.Settle(m, protocol.VerdictYes, "1")
	case "1":
		venue.Settle(m, protocol.VerdictNo, "0")
	case "":
		m.Status, m.Provisional = protocol.MarketClosed, true
		if even(o.Payouts) {
			venue.Settle(m, protocol.VerdictInvalid, "0.5")
		}
	default:
		a.client.UnknownWord("winningOutcomeIndex", string(o.Winner))
		m.Status, m.Provisional = protocol.MarketClosed, true
	}
}

// even reports whether the payouts of both sides are equal and not zero.
func even(payouts []string) bool {
	return len(payouts) == 2 && payouts[0] == payouts[1] &&
		strings.Trim(payouts[0], "0123456789") == "" && strings.Trim(payouts[0], "0") != ""
}

// yesBps returns the YES price in a market record, or nil if it has none.
func yesBps(o *object) *protocol.Bps {
	yes, no, ok := pair(o.Prices)
	if !ok || yes > loosejson.One || no > loosejson.One {
		return nil
	}
	return new(yes.Bps())
}

// pair parses the prices of YES and NO. If their sum is greater than maxSum, it converts them from the scale of 0 to 100 to
// the scale of 0 to 1. ok is false if the prices are missing or invalid.
func pair(list loosejson.List) (yes, no loosejson.Price, ok bool) {
	if len(list) != 2 {
		return 0, 0, false
	}
	yes, ok1 := loosejson.ParsePrice(list[0])
	no, ok2 := loosejson.ParsePrice(list[1])
	if !ok1 || !ok2 || yes < 0 || no < 0 || yes+no == 0 {
		return 0, 0, false
	}
	if yes+no > maxSum {
		yes, no = yes/percent, no/percent
	}
	return yes, no, true
}
