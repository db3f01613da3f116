package limitless

import (
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// The venue's words of a market's state, in lower case.
const (
	wordDraft    = "draft"
	wordCreated  = "created"
	wordFunded   = "funded"
	wordFlagged  = "funded_flagged"
	wordLocked   = "locked"
	wordDisputed = "disputed"
	wordResolved = "resolved"
)

// percent divides prices of a pool, which run from 0 to 100. mostSum is above
// what the two prices of a market can make together on the scale of 0 to 1.
const (
	percent = 100
	mostSum = wire.One + wire.One/2
)

// parent is what a market of a group does not say itself.
type parent struct{ slug, title string }

// derive makes a market of a record and what is known of its group.
func (a *Adapter) derive(o *object, p parent, asked time.Time) venue.Market {
	id, _ := syntax.NewMarketID(syntax.Limitless, string(o.Slug)) // decode checked the form
	m := venue.Market{
		ID: string(id), Question: question(o, p), Description: wire.Plain(string(o.Description), maxDescription),
		EndDate: o.Expiration.Second(), VolumeUnit: "usd", Volume: o.Volume.Amount(), Outcomes: [2]string{"Yes", "No"},
		Slug: string(o.Slug), EventKey: p.slug, EventTitle: p.title, Tags: o.words(), ImageURL: o.image(),
		ProofURL: "https://limitless.exchange/markets/" + url.PathEscape(string(o.Slug)), FetchedAt: asked,
	}
	if isHex(string(o.ConditionID), hexHash) {
		m.ConditionID = string(o.ConditionID)
	}
	if o.orderBook() {
		m.ClobTokenID = o.token()
	} else {
		m.Liquidity = o.Liquidity.Amount()
	}
	a.standing(&m, o)
	if m.YesBps = yesBps(o); m.Payout != nil {
		if p, ok := wire.ParsePrice(*m.Payout); ok {
			m.YesBps = bps(p)
		}
	}
	if m.Status != venue.Open {
		m.ClosedAt = venue.Ended(a.now(), o.Expiration.Exact())
	}
	if m.Settled && isHex(string(o.Tx), hexHash) {
		m.ProofURL = "https://basescan.org/tx/" + string(o.Tx)
	}
	placed := categorise.Classify(m.Question, m.Tags)
	m.VenueLane = string(lane(o, m.Tags))
	if m.VenueLane != string(syntax.LaneOther) {
		placed.Lane = syntax.Lane(m.VenueLane)
		placed.Category = categorise.Category(placed.Lane, m.Question, m.Tags)
	}
	m.Lane, m.Category = string(placed.Lane), placed.Category
	return m
}

// question is the title, under that of the group: the title of a child is only
// a name.
func question(o *object, p parent) string {
	title := wire.Plain(string(o.Title), maxQuestion)
	if p.title == "" || strings.Contains(strings.ToLower(title), strings.ToLower(p.title)) {
		return title
	}
	return wire.Plain(p.title+": "+title, maxQuestion)
}

// lane is the lane that the venue's own words give. Its hourly and daily
// series without another word are those of crypto prices.
func lane(o *object, words []string) syntax.Lane {
	if found := categorise.ByTags(words); found != syntax.LaneOther {
		return found
	}
	for _, c := range o.Categories {
		if word := normal(c); word == "hourly" || word == "daily" {
			return syntax.LaneCrypto
		}
	}
	return syntax.LaneOther
}

// standing applies the rules of status and outcome.
func (a *Adapter) standing(m *venue.Market, o *object) {
	if kind := normal(o.MarketType); kind != "" && kind != "single" {
		a.meter.UnknownWord(provider, "marketType", kind)
		m.Status = venue.Unknown // of markets with other rules nothing can be said
		return
	}
	if kind := normal(o.TradeType); kind != "clob" && kind != "amm" {
		a.meter.UnknownWord(provider, "tradeType", kind)
	}
	switch word := normal(o.Status); word {
	case wordFunded, wordFlagged:
		m.Status = venue.Open
		if o.Expired != nil && *o.Expired || m.EndDate != nil && !m.EndDate.After(a.now()) {
			m.Status = venue.Closed
		}
	case wordLocked: // paused and deciding look the same
		m.Status, m.Provisional = venue.Closed, true
	case wordDisputed:
		m.Status, m.Provisional, m.Disputed = venue.Closed, true, true
	case wordResolved:
		a.settle(m, o)
	case wordDraft, wordCreated:
		m.Status = venue.Unknown
	default:
		a.meter.UnknownWord(provider, "status", word)
		m.Status = venue.Unknown
	}
}

// settle reads the outcome of a market that the venue calls resolved. Until it
// says who won, the market is over without an outcome.
func (a *Adapter) settle(m *venue.Market, o *object) {
	switch o.Winner {
	case "0":
		resolve(m, "YES", "1")
	case "1":
		resolve(m, "NO", "0")
	case "":
		m.Status, m.Provisional = venue.Closed, true
		if even(o.Payouts) {
			m.Provisional = false
			resolve(m, "INVALID", "0.5")
		}
	default:
		a.meter.UnknownWord(provider, "winningOutcomeIndex", string(o.Winner))
		m.Status, m.Provisional = venue.Closed, true
	}
}

func resolve(m *venue.Market, outcome, payout string) {
	m.Status, m.Settled, m.Outcome, m.Payout = venue.Resolved, true, outcome, &payout
}

// even tells payouts that give both sides the same.
func even(payouts []string) bool {
	return len(payouts) == 2 && payouts[0] == payouts[1] &&
		strings.Trim(payouts[0], "0123456789") == "" && strings.Trim(payouts[0], "0") != ""
}

// yesBps is the YES price of a record, nil without one.
func yesBps(o *object) *int {
	yes, no, ok := pair(o.Prices)
	if !ok || yes > wire.One || no > wire.One {
		return nil
	}
	return bps(yes)
}

// pair reads the prices of both sides. Their sum gives the scale, 0 to 1 or 0 to 100, because
// the kind of the market alone does not.
func pair(list wire.List) (yes, no wire.Price, ok bool) {
	if len(list) != 2 {
		return 0, 0, false
	}
	yes, ok1 := wire.ParsePrice(list[0])
	no, ok2 := wire.ParsePrice(list[1])
	if !ok1 || !ok2 || yes < 0 || no < 0 || yes+no == 0 {
		return 0, 0, false
	}
	if yes+no > mostSum {
		yes, no = yes/percent, no/percent
	}
	return yes, no, true
}

func bps(p wire.Price) *int {
	n := p.Bps()
	return &n
}
