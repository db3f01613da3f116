package kalshi

import (
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// rule is the source name of quotes from this venue. They are computed from the best bid and ask of a market record.
const rule = "kalshi.market"

// derive returns the market that a market record and its event describe. requested is the time of the request.
func (a *Adapter) derive(o *object, e event, requested time.Time) market.Record {
	id, _ := protocol.NewMarketID(protocol.Kalshi, string(o.Ticker)) // decode checked the form
	m := market.Record{
		ID: id, Title: o.question(e.title), Description: o.description(), EndDate: o.CloseTime.Second(),
		VolumeUnit: "contracts", Volume: o.Volume.Amount(), Volume24h: o.Volume24h.Amount(), VolumeUSD: o.Volume.Amount(),
		Outcomes: o.sides(),
		EventKey: loosejson.Plain(string(o.Event), loosejson.MaxWord), EventTitle: e.title, URL: e.page(), Tags: e.words(), FetchedAt: requested,
		Short: e.unread,
	}
	a.setStatus(&m, o)
	m.Yes = yesBps(o, m.Payout)
	if m.Status != protocol.MarketOpen {
		// The venue moves the close time to an earlier time when trading ends early.
		m.ClosedAt = venue.Ended(a.client.Now(), o.CloseTime.Exact(), o.SettledAt.Exact())
	}
	m.Lane = a.lane(e)
	return m
}

// quote returns the quote in the record of an open market. It returns nil if the market is not open or a price is missing.
func (o *object) quote(m *market.Record, answer *venue.Answer) *market.Quote {
	bid, haveBid := side(o.Bid, o.BidCents, o.NoAsk, o.NoAskCents)
	ask, haveAsk := side(o.Ask, o.AskCents, o.NoBid, o.NoBidCents)
	if !haveBid || !haveAsk || m.Status != protocol.MarketOpen {
		return nil
	}
	return answer.Quote(rule, bid, ask)
}

// side returns the price of one side. This is the price in dollars, or else the price in cents, or else 1 minus the price of
// the opposite side. It returns false if the record has none of them.
func side(dollars, cents, otherDollars, otherCents loosejson.Decimal) (loosejson.Price, bool) {
	if p, ok := dollarsOrCents(dollars, cents); ok {
		return p, true
	}
	p, ok := dollarsOrCents(otherDollars, otherCents)
	return loosejson.One - p, ok
}

func dollarsOrCents(dollars, cents loosejson.Decimal) (loosejson.Price, bool) {
	if dollars != "" {
		return dollars.Price()
	}
	p, ok := cents.Price()
	return p / 100, ok && p != 0
}

// setStatus sets the status of a market, and its outcome if it has one, from its record. A status that is not known gives
// protocol.MarketUnknown.
func (a *Adapter) setStatus(m *market.Record, o *object) {
	switch word := o.Status.Normal(); word {
	case "initialized":
		m.Status = protocol.MarketUnknown
	case "active":
		switch {
		case m.EndDate == nil: // without an end date it is unknown whether trading has ended
			m.Status = protocol.MarketUnknown
		case m.EndDate.After(a.client.Now()):
			m.Status = protocol.MarketOpen
		default:
			m.Status = protocol.MarketClosed
		}
	case "inactive", "closed": // trading can start again after both
		m.Status = protocol.MarketClosed
	case "determined", "amended":
		m.Status, m.Provisional = protocol.MarketClosed, true
	case "disputed":
		m.Status, m.Provisional, m.Disputed = protocol.MarketClosed, true, true
	case "finalized":
		a.settle(m, o)
	default:
		a.client.UnknownWord("status", word)
		m.Status = protocol.MarketUnknown
	}
}

// settle sets the outcome of a finalized market from its result, or else from the amount that a YES contract paid. Without
// an amount, the outcome is INVALID. If the amount is not readable, the market is closed without an outcome. A result that
// is not known gives the status unknown.
func (a *Adapter) settle(m *market.Record, o *object) {
	value, readable := o.Settlement.Price()
	readable = readable && value >= 0 && value <= loosejson.One
	switch result := o.Result.Normal(); {
	case result == "yes":
		venue.Settle(m, protocol.VerdictYes, "1")
	case result == "no":
		venue.Settle(m, protocol.VerdictNo, "0")
	case result != "" && result != "scalar" && result != "void":
		a.client.UnknownWord("result", result)
		m.Status = protocol.MarketUnknown
	case o.Settlement == "": // cancelled without a payment
		venue.Settle(m, protocol.VerdictInvalid, "")
	case !readable:
		m.Status, m.Provisional = protocol.MarketClosed, true
	case result != "void" && value == loosejson.One:
		venue.Settle(m, protocol.VerdictYes, "1")
	case result != "void" && value == 0:
		venue.Settle(m, protocol.VerdictNo, "0")
	default:
		venue.Settle(m, protocol.VerdictInvalid, value.Text())
	}
}

// yesBps returns the YES price of a market: the payout of a settled market, else the middle of a narrow order book, else the
// price of the last trade, else nil. An empty order book has bid 0 and ask 1.
func yesBps(o *object, payout *string) *protocol.Bps {
	if payout != nil {
		if p, ok := loosejson.ParsePrice(*payout); ok {
			return new(p.Bps())
		}
	}
	bid, haveBid := o.Bid.Price()
	ask, haveAsk := o.Ask.Price()
	if mid, ok := loosejson.Middle(bid, ask, venue.WidestSpread); ok && haveBid && haveAsk {
		return new(mid.Bps())
	}
	if last, ok := o.Last.Price(); ok && last > 0 && last <= loosejson.One {
		return new(last.Bps())
	}
	return nil
}
