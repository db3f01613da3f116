package manifold

import (
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// manaPerUSD is the amount of play money (mana) that counts as one dollar where volumes of venues are compared.
const manaPerUSD = 100

// derive returns the market that a market record and its details describe. known is false if the details are missing, as in
// lists; the market then has Short set. requested is the time of the request.
func (a *Adapter) derive(o *object, d details, known bool, requested time.Time) market.Record {
	id, _ := protocol.NewMarketID(protocol.Manifold, string(o.ID)) // decode checked the form
	m := market.Record{
		ID: id, Title: loosejson.Plain(string(o.Question), loosejson.MaxTitle), Description: d.description,
		VolumeUnit: "mana", Outcomes: []string{"Yes", "No"}, Tags: d.topics, Slug: loosejson.Plain(string(o.Slug), loosejson.MaxWord),
		URL: o.page(), FetchedAt: requested, Short: !known, Creator: loosejson.Plain(string(o.Creator), loosejson.MaxWord),
	}
	switch token := string(o.Token); token {
	case "MANA", "": // play money
		m.Volume, m.Volume24h, m.Liquidity = o.Volume.Amount(), o.Volume24h.Amount(), o.Liquidity.Amount()
		if m.Volume != nil {
			m.VolumeUSD = new(*m.Volume / manaPerUSD)
		}
	case "CASH": // formerly redeemable; its amounts are not in mana and are ignored
	default:
		a.client.UnknownWord("token", token)
	}
	if at, _, ok := moment(o.CloseTime); ok && !at.IsZero() {
		end := at.Truncate(time.Second)
		m.EndDate = &end
	}
	if *o.Resolved {
		a.settle(&m, o)
	} else {
		a.setStatus(&m, o)
	}
	m.Yes = yesBps(o, m.Payout)
	m.Lane = lane(d.topics)
	return m
}

// setStatus sets the status of a market without a result. Its trading ends at its close time; without a close time it does
// not end. If the close time is not readable, the status is unknown.
func (a *Adapter) setStatus(m *market.Record, o *object) {
	at, sign, ok := moment(o.CloseTime)
	switch {
	case o.CloseTime == "" || sign > 0:
		m.Status = protocol.MarketOpen
	case !ok: // without a readable close time it is unknown whether trading has ended
		m.Status = protocol.MarketUnknown
	case sign == 0 && at.After(a.client.Now()):
		m.Status = protocol.MarketOpen
	default:
		m.Status, m.ClosedAt = protocol.MarketClosed, venue.Ended(a.client.Now(), at)
	}
}

// settle sets the outcome of a resolved market. The creator of a market can withdraw a result for some time, so a recent
// result, or one of unknown age, is not final. The market is then closed and provisional.
func (a *Adapter) settle(m *market.Record, o *object) {
	at, _, ok := moment(o.ResolutionTime)
	closes, _, _ := moment(o.CloseTime)
	m.Status, m.Provisional, m.ClosedAt = protocol.MarketClosed, true, venue.Ended(a.client.Now(), at, closes)
	final := ok && !at.IsZero() && a.client.Now().Sub(at) >= a.wait
	share, readable := o.ResolutionProbability.Price()
	readable = readable && share >= 0 && share <= loosejson.One
	word := strings.ToUpper(strings.TrimSpace(string(o.Resolution)))
	percentage := word == "MKT"
	switch {
	case !slices.Contains([]string{"YES", "NO", "CANCEL", "MKT", ""}, word):
		a.client.UnknownWord("resolution", word)
		m.Status, m.Provisional = protocol.MarketUnknown, false
	case !final || word == "" || percentage && !readable: // no readable result yet
	case word == "YES", percentage && share == loosejson.One:
		venue.Settle(m, protocol.VerdictYes, "1")
	case word == "NO", percentage && isZero(o.ResolutionProbability):
		venue.Settle(m, protocol.VerdictNo, "0")
	case percentage:
		venue.Settle(m, protocol.VerdictInvalid, share.Text())
	default:
		venue.Settle(m, protocol.VerdictInvalid, "")
	}
}

// isZero reports whether a number is exactly zero. A positive number that is too small for a Price is not zero.
func isZero(d loosejson.Decimal) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
	return !strings.ContainsAny(mantissa, "123456789")
}

// rule is the source name of quotes from this venue. They contain the probability of YES in a market record, and 1 minus
// that probability for NO.
const rule = "manifold.probability"

// quote returns the quote in the record of an open market. It returns nil if the market is not open or has no probability.
func (o *object) quote(m *market.Record, answer *venue.Answer) *market.Quote {
	p, ok := o.Probability.Price()
	if !ok || m.Status != protocol.MarketOpen {
		return nil
	}
	return answer.Quote(rule, p, p)
}

// yesBps returns the YES price of a market: the payout of a settled market, else the probability. It returns nil if there is
// none.
func yesBps(o *object, payout *string) *protocol.Bps {
	p, ok := o.Probability.Price()
	if payout != nil {
		p, ok = loosejson.ParsePrice(*payout)
	}
	if !ok || p < 0 || p > loosejson.One {
		return nil
	}
	return new(p.Bps())
}

// lane returns the content lane that follows from all topics together. If that lane is WORLD or POLITICS, the first topic
// with a lane decides.
func lane(topics []string) protocol.Lane {
	found := categorise.ByTags(topics)
	if found != protocol.LaneWorld && found != protocol.LanePolitics {
		return found
	}
	for _, t := range topics {
		if first := categorise.ByTags([]string{t}); first != protocol.LaneOther {
			return first
		}
	}
	return found
}
