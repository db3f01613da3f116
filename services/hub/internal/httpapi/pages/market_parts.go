package pages

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// badge is the state of a market in plain words.
type badge struct{ Word, Class, Note string }

type outcomePart struct {
	Word, Class, By, At, AtISO string
	ProofURL, Disputed         string
}

// callRow is a call in a list.
type callRow struct {
	ID, Title, Who, Handle, Take string
	Side, SideClass, Price       string
	Status, StatusWord, Score    string
	At, ShortAt, AtISO           string // ShortAt: without the year
}

// crowdPart is the crowd beside the market.
type crowdPart struct {
	Yes   string // percent
	Pct   int64
	Calls string
	Gap   string // in points; empty without a price
	Word  string
}

type moodPart struct {
	Word, Class string
	Lines       []string
}

// settle says what state the market is in and what came of it.
func (p *marketPage) settle(m *marketv1.Market, o *resolutionv1.Outcome, now time.Time) {
	p.Outcome = outcomeOf(o)
	p.Status = statusOf(m, o, now)
	p.Open = m.GetStatus() == string(protocol.MarketOpen) && p.Status.Class == "open"
	if m.ClosePriceBps != nil {
		p.Close = percent(bounded(m.GetClosePriceBps()))
	}
}

func statusOf(m *marketv1.Market, o *resolutionv1.Outcome, now time.Time) badge {
	claimed, status, end := m.ResolutionValue, protocol.MarketStatus(m.GetStatus()), ledgerclient.Time(m.GetEndDate())
	if o != nil && o.Outcome != nil {
		claimed = o.Outcome
	}
	switch {
	case o != nil && o.GetDisputed():
		return badge{"Disputed", "disputed", "The outcome is under review."}
	case status == protocol.MarketResolved || o != nil && o.Outcome != nil:
		return badge{resolvedWord(claimed), "resolved", "The market is closed and its calls are scored."}
	case status == protocol.MarketClosed:
		return badge{"Closed, outcome pending", "provisional", "No more calls. The outcome is not final yet."}
	case status == protocol.MarketOpen && !end.IsZero() && !end.After(now):
		return badge{"Ended, outcome pending", "provisional", "No more calls. The outcome is not final yet."}
	case status == protocol.MarketOpen && m.GetProvisional():
		return badge{"Outcome proposed", "provisional", "No more calls. The outcome is not final yet."}
	case status == protocol.MarketOpen:
		return badge{"Open", "open", "Open for calls."}
	}
	return badge{"Status unknown", "unknown", "The venue is unavailable."}
}

func resolvedWord(outcome *string) string {
	switch {
	case outcome == nil:
		return "Resolved"
	case *outcome == string(protocol.VerdictInvalid):
		return "Resolved void"
	}
	return "Resolved " + *outcome
}

func outcomeOf(o *resolutionv1.Outcome) *outcomePart {
	if o == nil {
		return nil
	}
	part := &outcomePart{Word: "No outcome yet", ProofURL: proof(o), Disputed: dispute(o)}
	if o.Outcome == nil {
		return part
	}
	part.Word, part.Class = resolvedWord(o.Outcome), strings.ToLower(*o.Outcome)
	part.By, part.At, part.AtISO = by(o), when(ledgerclient.Time(o.GetResolvedAt())), ledgerclient.Stamp(o.GetResolvedAt())
	return part
}

func callsOf(list []*signalv1.Signal) []callRow {
	rows := make([]callRow, 0, len(list))
	for _, call := range list {
		side, status, filed := call.GetDirection(), call.GetStatus(), ledgerclient.Time(call.GetCreatedAt())
		rows = append(rows, callRow{
			ID: call.GetId(), Title: cmp.Or(call.GetMarketTitle(), call.GetMarketId()), Who: callerOf(call),
			Handle: call.GetHandle(),
			Side:   side, SideClass: sideClass(side), Price: priceOf(call), Take: call.GetTextTake(),
			Status: status, StatusWord: statusWord(status), Score: callPoints(call),
			At: when(filed), ShortAt: filed.UTC().Format("2 Jan, 15:04"), AtISO: protocol.Stamp(filed),
		})
	}
	return rows
}

// near is how many points apart crowd and market may be and still agree, in bps.
const near = 300

func crowdOf(m *marketv1.Market, c *signalv1.GetCrowdResponse) (part *crowdPart, top string) {
	if c != nil && c.TopYesPercent != nil {
		top = strconv.Itoa(int(c.GetTopYesPercent())) + "% YES of " + many(int64(c.GetTopSample()), "call")
	}
	total := c.GetYes() + c.GetNo()
	if total <= 0 {
		return nil, top
	}
	part = &crowdPart{Pct: min(max(view.SharePercent(c.GetYes(), total), 0), 100), Calls: many(total, "call")}
	part.Yes = strconv.FormatInt(part.Pct, 10) + "%"
	if m.YesBps == nil {
		return part, top
	}
	gap := int(100*part.Pct) - int(m.GetYesBps())
	part.Gap, part.Word = pointsOf(gap), "The crowd and the market agree."
	switch {
	case gap > near:
		part.Word = "Forecasters are more confident in YES than the market."
	case gap < -near:
		part.Word = "Forecasters are less confident in YES than the market."
	}
	return part, top
}

// leans says the labels of a sentiment in plain words.
var leans = map[string]string{
	market.Bullish: "Leans YES", market.Bearish: "Leans NO", market.Mixed: "Split", market.Neutral: "No clear lean",
}

func moodOf(m *cataloguev1.GetSentimentResponse) *moodPart {
	if m.GetYes()+m.GetNo() <= 0 {
		return nil
	}
	label := market.Label(m)
	part := &moodPart{Word: leans[label], Class: label}
	if m.ConfidenceYes != nil || m.ConfidenceNo != nil {
		part.Lines = append(part.Lines, "Average confidence: "+sides(m.ConfidenceYes, m.ConfidenceNo))
	}
	if yes, no := m.GetTakesYes(), m.GetTakesNo(); yes+no > 0 {
		part.Lines = append(part.Lines, many(yes+no, "take")+": "+digits(yes)+" for YES, "+digits(no)+" for NO")
	}
	last := "Last 24 hours: " + many(m.GetSignals24H(), "call")
	if m.Move24HBps != nil {
		last += ", price " + pointsOf(int(m.GetMove24HBps())) + " points"
	}
	part.Lines = append(part.Lines, last)
	return part
}

func sides(yes, no *float64) string {
	var words []string
	if yes != nil {
		words = append(words, "YES "+strconv.Itoa(int(math.Round(*yes))))
	}
	if no != nil {
		words = append(words, "NO "+strconv.Itoa(int(math.Round(*no))))
	}
	return strings.Join(words, ", ")
}

var relationWords = map[string]string{"same_event": "Same event", "similar": "Similar question", "same_lane": "Same lane"}

func relatedOf(list []*cataloguev1.Relation) []marketRow {
	rows := make([]marketRow, 0, len(list))
	for _, one := range list {
		row := rowOf(one.GetMarket())
		row.Why = relationWords[one.GetRelation()]
		rows = append(rows, row)
	}
	return rows
}

// closedWord labels a market without trading; empty for one that trades.
func closedWord(m *marketv1.Market) string {
	switch protocol.MarketStatus(m.GetStatus()) {
	case protocol.MarketResolved:
		return resolvedWord(m.ResolutionValue)
	case protocol.MarketClosed:
		return "Closed"
	}
	return ""
}
