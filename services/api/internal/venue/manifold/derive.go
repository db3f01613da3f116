package manifold

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

// The venue's words of a result.
const (
	wordYes    = "YES"
	wordNo     = "NO"
	wordShare  = "MKT" // a percentage
	wordCancel = "CANCEL"
)

// The venue's words of money: play money, and what could once be redeemed.
const (
	tokenPlay = "MANA"
	tokenCash = "CASH"
)

// derive makes a market of a record of a binary market and what is known of
// its details.
// Without them, in lists, the answer is short.
func (a *Adapter) derive(o *object, d details, known bool, asked time.Time) venue.Market {
	id, _ := syntax.NewMarketID(syntax.Manifold, string(o.ID)) // decode checked the form
	m := venue.Market{
		ID: string(id), Question: wire.Plain(string(o.Question), maxQuestion), Description: d.description,
		VolumeUnit: "mana", Outcomes: [2]string{"Yes", "No"}, Tags: d.topics, Slug: wire.Plain(string(o.Slug), maxWord),
		ProofURL: o.page(), FetchedAt: asked, Short: !known, Creator: wire.Plain(string(o.Creator), maxWord),
	}
	switch token := string(o.Token); token {
	case tokenPlay, "":
		m.Volume, m.Volume24h, m.Liquidity = o.Volume.Amount(), o.Volume24h.Amount(), o.Liquidity.Amount()
	case tokenCash: // not of the unit in which this venue is counted
	default:
		a.meter.UnknownWord(provider, "token", token)
	}
	if at, _, ok := moment(o.CloseTime); ok && !at.IsZero() {
		end := at.Truncate(time.Second)
		m.EndDate = &end
	}
	if *o.Resolved {
		a.settle(&m, o)
	} else {
		a.standing(&m, o)
	}
	m.YesBps = yesBps(o, m.Payout)
	m.VenueLane = string(lane(d.topics))
	placed := categorise.Classify(m.Question, m.Tags)
	if m.VenueLane != string(syntax.LaneOther) {
		placed.Lane = syntax.Lane(m.VenueLane)
		placed.Category = categorise.Category(placed.Lane, m.Question, m.Tags)
	}
	m.Lane, m.Category = string(placed.Lane), placed.Category
	return m
}

// standing is the state of a market without a result: trading ends at its close
// time, if it has one.
func (a *Adapter) standing(m *venue.Market, o *object) {
	at, sign, ok := moment(o.CloseTime)
	switch {
	case o.CloseTime == "" || sign > 0:
		m.Status = venue.Open
	case !ok: // it cannot be told whether trading is over
		m.Status = venue.Unknown
	case sign == 0 && at.After(a.now()):
		m.Status = venue.Open
	default:
		m.Status, m.ClosedAt = venue.Closed, venue.Ended(a.now(), at)
	}
}

// settle reads the outcome of a resolved market. Its creator can take a result
// back: one that is fresh, or of an age that is not known, is not final.
func (a *Adapter) settle(m *venue.Market, o *object) {
	at, _, ok := moment(o.ResolutionTime)
	closes, _, _ := moment(o.CloseTime)
	m.Status, m.Provisional, m.ClosedAt = venue.Closed, true, venue.Ended(a.now(), at, closes)
	final := ok && !at.IsZero() && a.now().Sub(at) >= a.wait
	share, readable := o.ResolutionProbability.Price()
	readable = readable && share >= 0 && share <= wire.One
	switch word := strings.ToUpper(strings.TrimSpace(string(o.Resolution))); {
	case word != wordYes && word != wordNo && word != wordCancel && word != wordShare && word != "":
		a.meter.UnknownWord(provider, "resolution", word)
		m.Status, m.Provisional = venue.Unknown, false
	case !final || word == "" || word == wordShare && !readable: // nothing to be read yet
	case word == wordYes, word == wordShare && share == wire.One:
		resolve(m, "YES", "1")
	case word == wordNo, word == wordShare && isZero(o.ResolutionProbability):
		resolve(m, "NO", "0")
	case word == wordShare:
		resolve(m, "INVALID", decimal(share))
	default:
		resolve(m, "INVALID", "")
	}
}

// resolve settles a market; a payout that is not known is empty.
func resolve(m *venue.Market, outcome, payout string) {
	m.Status, m.Settled, m.Provisional, m.Outcome = venue.Resolved, true, false, outcome
	if payout != "" {
		m.Payout = &payout
	}
}

// isZero tells an exact zero from a figure that is only too small for a price.
func isZero(d wire.Decimal) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
	return !strings.ContainsAny(mantissa, "123456789")
}

// decimal writes a price from 0 to 1 without trailing zeros.
func decimal(p wire.Price) string {
	whole, rest := p/wire.One, p%wire.One
	if rest == 0 {
		return fmt.Sprint(int64(whole))
	}
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(fmt.Sprintf("%012d", rest), "0"))
}

// rule names the source of the quotes: the probability of the pool and its complement.
const rule = "manifold.probability"

// quote returns the quote of an open market's record, or nil.
func (o *object) quote(m *venue.Market, answer *venue.Answer) *market.Quote {
	p, ok := o.Probability.Price()
	if !ok || m.Status != venue.Open {
		return nil
	}
	return answer.Quote(rule, p, p)
}

// yesBps is the payout of a settled market, else the probability.
func yesBps(o *object, payout *string) *int {
	p, ok := o.Probability.Price()
	if payout != nil {
		p, ok = wire.ParsePrice(*payout)
	}
	if !ok || p < 0 || p > wire.One {
		return nil
	}
	n := p.Bps()
	return &n
}

// lane is the lane that the topics give, a narrow one before a broad one. Of the
// two broadest the one that is listed first counts.
func lane(topics []string) syntax.Lane {
	found := categorise.ByTags(topics)
	if found != syntax.LaneWorld && found != syntax.LanePolitics {
		return found
	}
	for _, t := range topics {
		if first := categorise.ByTags([]string{t}); first != syntax.LaneOther {
			return first
		}
	}
	return found
}
