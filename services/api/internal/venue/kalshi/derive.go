package kalshi

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// rule names the source of the quotes: the best bid and ask of a market record.
const rule = "kalshi.market"

// The venue's words of a market's state. Its list filter has words of its own.
const (
	wordInitialized = "initialized"
	wordActive      = "active"
	wordInactive    = "inactive"
	wordClosed      = "closed"
	wordDetermined  = "determined"
	wordDisputed    = "disputed"
	wordAmended     = "amended"
	wordFinalized   = "finalized"
)

// derive makes a market of a record and what is known of its event.
func (a *Adapter) derive(o *object, e event, asked time.Time) venue.Market {
	id, _ := syntax.NewMarketID(syntax.Kalshi, string(o.Ticker)) // decode checked the form
	m := venue.Market{
		ID: string(id), Question: o.question(e.title), Description: o.description(), EndDate: o.CloseTime.Second(),
		VolumeUnit: "contracts", Volume: o.Volume.Amount(), Volume24h: o.Volume24h.Amount(), Outcomes: [2]string{"Yes", "No"},
		EventKey: wire.Plain(string(o.Event), maxWord), EventTitle: e.title, ProofURL: e.page(), Tags: e.words(), FetchedAt: asked,
		Short: e.unread,
	}
	a.standing(&m, o)
	m.YesBps = yesBps(o, m.Payout)
	if m.Status != venue.Open {
		// The venue moves the close time back when trading ends early.
		m.ClosedAt = venue.Ended(a.now(), o.CloseTime.Exact(), o.SettledAt.Exact())
	}
	m.VenueLane = string(a.lane(e))
	placed := categorise.Classify(m.Question, m.Tags)
	if m.VenueLane != string(syntax.LaneOther) {
		placed.Lane = syntax.Lane(m.VenueLane)
		placed.Category = categorise.Category(placed.Lane, m.Question, m.Tags)
	}
	m.Lane, m.Category = string(placed.Lane), placed.Category
	return m
}

// quote returns the quote of an open market's record, or nil.
func (o *object) quote(m *venue.Market, answer *venue.Answer) *market.Quote {
	bid, haveBid := side(o.Bid, o.BidCents, o.NoAsk, o.NoAskCents)
	ask, haveAsk := side(o.Ask, o.AskCents, o.NoBid, o.NoBidCents)
	if !haveBid || !haveAsk || m.Status != venue.Open {
		return nil
	}
	return answer.Quote(rule, bid, ask)
}

// side returns the first price that is given: in dollars, in cents, or as 1 minus that of
// the opposite side.
func side(dollars, cents, otherDollars, otherCents wire.Decimal) (wire.Price, bool) {
	if p, ok := dollarsOrCents(dollars, cents); ok {
		return p, true
	}
	p, ok := dollarsOrCents(otherDollars, otherCents)
	return wire.One - p, ok
}

func dollarsOrCents(dollars, cents wire.Decimal) (wire.Price, bool) {
	if dollars != "" {
		return dollars.Price()
	}
	p, ok := cents.Price()
	return p / 100, ok && p != 0
}

// standing applies the rules of status and outcome.
func (a *Adapter) standing(m *venue.Market, o *object) {
	switch word := normal(o.Status); word {
	case wordInitialized:
		m.Status = venue.Unknown
	case wordActive:
		switch {
		case m.EndDate == nil: // it cannot be told whether trading is over
			m.Status = venue.Unknown
		case m.EndDate.After(a.now()):
			m.Status = venue.Open
		default:
			m.Status = venue.Closed
		}
	case wordInactive, wordClosed: // both can open again
		m.Status = venue.Closed
	case wordDetermined, wordAmended:
		m.Status, m.Provisional = venue.Closed, true
	case wordDisputed:
		m.Status, m.Provisional, m.Disputed = venue.Closed, true, true
	case wordFinalized:
		a.settle(m, o)
	default:
		a.meter.UnknownWord(provider, "status", word)
		m.Status = venue.Unknown
	}
}

// settle reads the outcome of a finalized market: its result, else the value
// paid for a YES contract. A value that cannot be read settles nothing.
func (a *Adapter) settle(m *venue.Market, o *object) {
	value, readable := o.Settlement.Price()
	readable = readable && value >= 0 && value <= wire.One
	switch result := normal(o.Result); {
	case result == "yes":
		resolve(m, "YES", wire.One)
	case result == "no":
		resolve(m, "NO", 0)
	case result != "" && result != "scalar" && result != "void":
		a.meter.UnknownWord(provider, "result", result)
		m.Status = venue.Unknown
	case o.Settlement == "": // called off, nothing paid out
		m.Status, m.Settled, m.Outcome = venue.Resolved, true, "INVALID"
	case !readable:
		m.Status, m.Provisional = venue.Closed, true
	case result != "void" && value == wire.One:
		resolve(m, "YES", wire.One)
	case result != "void" && value == 0:
		resolve(m, "NO", 0)
	default:
		resolve(m, "INVALID", value)
	}
}

func resolve(m *venue.Market, outcome string, payout wire.Price) {
	text := decimal(payout)
	m.Status, m.Settled, m.Outcome, m.Payout = venue.Resolved, true, outcome, &text
}

// decimal writes a price from 0 to 1 without trailing zeros.
func decimal(p wire.Price) string {
	whole, rest := p/wire.One, p%wire.One
	if rest == 0 {
		return fmt.Sprint(int64(whole))
	}
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(fmt.Sprintf("%012d", rest), "0"))
}

// yesBps is the payout of a settled market, else the middle of a narrow book,
// else the last trade, else nothing. An empty book shows a bid of 0 and an ask
// of 1.
func yesBps(o *object, payout *string) *int {
	if payout != nil {
		if p, ok := wire.ParsePrice(*payout); ok {
			return bps(p)
		}
	}
	bid, haveBid := o.Bid.Price()
	ask, haveAsk := o.Ask.Price()
	if haveBid && haveAsk {
		if mid, ok := middle(bid, ask); ok {
			return bps(mid)
		}
	}
	if last, ok := o.Last.Price(); ok && last > 0 && last <= wire.One {
		return bps(last)
	}
	return nil
}

// middle is the price between a bid and an ask that are near each other.
func middle(bid, ask wire.Price) (wire.Price, bool) {
	return (bid + ask) / 2, bid > 0 && ask < wire.One && bid <= ask && ask-bid <= venue.WidestSpread
}

func bps(p wire.Price) *int {
	n := p.Bps()
	return &n
}

func normal(word wire.Text) string { return strings.ToLower(strings.TrimSpace(string(word))) }
