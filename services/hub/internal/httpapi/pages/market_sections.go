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
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// statusBadge is the status of a market as the market page shows it.
type statusBadge struct{ Label, Class string }

type outcomePart struct {
	Label, Class, Resolver, At, AtISO string
	ProofURL, Proof, Disputed         string
}

// callRow is a call in a list of calls, as formatted texts.
type callRow struct {
	ID, Title, Caller, Handle, Take string
	Side, SideClass, Price          string
	Status, StatusLabel, Score      string
	At, ShortAt, AtISO              string // ShortAt has no year
}

// crowdPart compares the share of YES calls with the market price.
type crowdPart struct {
	Yes   string // share of YES calls, as text in percent
	Pct   int64
	Calls string
	Gap   string // share of YES calls minus the price, in percentage points; empty without a price
	Text  string
}

type sentimentPart struct {
	Label, Class string
	Lines        []string
}

// addStatus sets the status, the outcome and the closing price of the market.
func (p *marketPage) addStatus(m *marketv1.Market, o *resolutionv1.Outcome, now time.Time) {
	p.Outcome = outcomeOf(m, o)
	p.Status = statusOf(m, o, now)
	if p.Open = m.GetStatus() == string(protocol.MarketOpen) && p.Status.Class == "open"; !p.Open {
		p.TimeLeft = ""
	}
	if m.ClosePriceBps != nil {
		p.Close = format.Cents(format.ClampPrice(m.GetClosePriceBps()))
	}
}

func statusOf(m *marketv1.Market, o *resolutionv1.Outcome, now time.Time) statusBadge {
	outcome, status, end := m.ResolutionValue, protocol.MarketStatus(m.GetStatus()), ledgerclient.Time(m.GetEndDate())
	if o != nil && o.Outcome != nil {
		outcome = o.Outcome
	}
	switch {
	case o != nil && o.GetDisputed():
		return statusBadge{"Disputed", "disputed"}
	case status == protocol.MarketResolved || o != nil && o.Outcome != nil:
		return statusBadge{resolvedLabel(m, outcome), "resolved"}
	case status == protocol.MarketClosed:
		return statusBadge{"Closed, outcome pending", "provisional"}
	case status == protocol.MarketOpen && !end.IsZero() && !end.After(now):
		return statusBadge{"Ended, outcome pending", "provisional"}
	case status == protocol.MarketOpen && m.GetProvisional():
		return statusBadge{"Outcome proposed", "provisional"}
	case status == protocol.MarketOpen:
		return statusBadge{"Open", "open"}
	}
	return statusBadge{"Status unknown", "unknown"}
}

// resolvedLabel returns the status label of a resolved market, with the winning side. A nil outcome is unknown.
func resolvedLabel(m *marketv1.Market, outcome *string) string {
	switch {
	case outcome == nil:
		return "Resolved"
	case *outcome == string(protocol.VerdictInvalid):
		return "Resolved void"
	}
	return "Resolved " + view.SideName(m, *outcome)
}

func outcomeOf(m *marketv1.Market, o *resolutionv1.Outcome) *outcomePart {
	if o == nil {
		return nil
	}
	part := &outcomePart{Label: "No outcome yet", ProofURL: proofURL(o), Proof: proofLabel(o), Disputed: disputeReason(o)}
	if o.Outcome == nil {
		return part
	}
	part.Label, part.Class = resolvedLabel(m, o.Outcome), strings.ToLower(*o.Outcome)
	part.Resolver, part.At, part.AtISO = resolverOf(o), format.When(ledgerclient.Time(o.GetResolvedAt())),
		ledgerclient.Stamp(o.GetResolvedAt())
	return part
}

// callsOf returns the rows of a list of calls. named has the markets of the calls, by id. Without its market, a call has the side
// YES or NO.
func callsOf(list []*signalv1.Signal, named map[string]*marketv1.Market) []callRow {
	rows := make([]callRow, 0, len(list))
	for _, call := range list {
		side, status, filed := call.GetDirection(), call.GetStatus(), ledgerclient.Time(call.GetCreatedAt())
		rows = append(rows, callRow{
			ID: call.GetId(), Title: cmp.Or(call.GetMarketTitle(), call.GetMarketId()), Caller: format.CallerName(call),
			Handle: call.GetHandle(), Side: view.SideName(named[call.GetMarketId()], side), SideClass: format.SideClass(side),
			Price: format.PriceOf(call), Take: call.GetTextTake(),
			Status: status, StatusLabel: format.StatusLabel(status), Score: format.CallPoints(call),
			At: format.When(filed), ShortAt: filed.UTC().Format("2 Jan, 15:04"), AtISO: protocol.Stamp(filed),
		})
	}
	return rows
}

// agreementBps is the maximum difference in bps between the share of YES calls and the market price. Up to this difference, the
// page states that both agree.
const agreementBps = 300

func crowdOf(m *marketv1.Market, c *signalv1.GetCrowdResponse) (part *crowdPart, top string) {
	yes := view.SideName(m, string(protocol.Yes))
	if c != nil && c.TopYesPercent != nil {
		top = strconv.Itoa(int(c.GetTopYesPercent())) + "% " + yes + " in " + format.CountOf(int64(c.GetTopSample()), "call")
	}
	total := c.GetYes() + c.GetNo()
	if total <= 0 {
		return nil, top
	}
	part = &crowdPart{Pct: min(max(view.SharePercent(c.GetYes(), total), 0), 100), Calls: format.CountOf(total, "call")}
	part.Yes = strconv.FormatInt(part.Pct, 10) + "%"
	if m.YesBps == nil {
		return part, top
	}
	gap := int(100*part.Pct) - int(m.GetYesBps())
	part.Gap, part.Text = format.PointsOf(gap), "The crowd and the market agree."
	switch {
	case gap > agreementBps:
		part.Text = "Forecasters are more confident in " + yes + " than the market."
	case gap < -agreementBps:
		part.Text = "Forecasters are less confident in " + yes + " than the market."
	}
	return part, top
}

// sentimentOf returns the sentiment of a market, with the names yes and no of its sides; nil without calls by people.
func sentimentOf(m *cataloguev1.GetSentimentResponse, yes, no string) *sentimentPart {
	if m.GetYes()+m.GetNo() <= 0 {
		return nil
	}
	label := market.Label(m)
	part := &sentimentPart{Class: label, Label: map[string]string{
		market.Bullish: "Leans " + yes, market.Bearish: "Leans " + no, market.Mixed: "Split", market.Neutral: "No clear lean",
	}[label]}
	if m.ConfidenceYes != nil || m.ConfidenceNo != nil {
		part.Lines = append(part.Lines, "Average confidence: "+sideValues(yes, m.ConfidenceYes, no, m.ConfidenceNo))
	}
	if n := m.GetTakesYes() + m.GetTakesNo(); n > 0 {
		part.Lines = append(part.Lines, format.CountOf(n, "take")+": "+format.Digits(m.GetTakesYes())+" for "+yes+", "+
			format.Digits(m.GetTakesNo())+" for "+no)
	}
	last := "Last 24 hours: " + format.CountOf(m.GetSignals24H(), "call")
	if m.Move24HBps != nil {
		last += ", price " + format.PointsOf(int(m.GetMove24HBps())) + " percentage points"
	}
	part.Lines = append(part.Lines, last)
	return part
}

// sideValues returns the percentages of the two sides with the names yes and no. It leaves out a side without a percentage.
func sideValues(yes string, ofYes *float64, no string, ofNo *float64) string {
	var words []string
	if ofYes != nil {
		words = append(words, yes+" "+strconv.Itoa(int(math.Round(*ofYes)))+"%")
	}
	if ofNo != nil {
		words = append(words, no+" "+strconv.Itoa(int(math.Round(*ofNo)))+"%")
	}
	return strings.Join(words, ", ")
}

var relationLabels = map[string]string{"same_event": "Same event", "similar": "Similar question", "same_lane": "Same lane"}

func relatedOf(list []*cataloguev1.Relation) []marketRow {
	rows := make([]marketRow, 0, len(list))
	for _, one := range list {
		row := rowOf(one.GetMarket())
		row.Relation = relationLabels[one.GetRelation()]
		rows = append(rows, row)
	}
	return rows
}

// closedLabel returns the status label of a closed or resolved market, and "" for other markets.
func closedLabel(m *marketv1.Market) string {
	switch protocol.MarketStatus(m.GetStatus()) {
	case protocol.MarketResolved:
		return resolvedLabel(m, m.ResolutionValue)
	case protocol.MarketClosed:
		return "Closed"
	}
	return ""
}
