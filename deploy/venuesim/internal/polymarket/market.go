package polymarket

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	fineTime  = "2006-01-02T15:04:05.999999Z"
	spaceTime = "2006-01-02 15:04:05.999+00" // format of closing times
)

// market returns the JSON object of a market in the metadata service. Lists are strings that contain JSON. Amounts occur twice,
// as a string and as a number.
func (s *Service) market(m *world.Market, withTags bool) venue.Object {
	top := m.Tops()[0]
	dayAgo := max(m.Start.Unix(), m.LastPriceAt(s.world.Now()).Unix()-86_400)
	o := constants.With("market", venue.Object{
		"id": s.Key(m), "question": m.Question, "conditionId": m.ConditionID, "slug": m.Slug, "description": m.Description,
		"startDate": m.Start.Format(fineTime), "startDateIso": m.Start.Format(time.DateOnly),
		"createdAt": m.Start.Add(-109 * time.Second).Format(fineTime), "updatedAt": s.world.Now().Format(fineTime),
		"acceptingOrdersTimestamp": m.Start.Add(5 * time.Second).Format(time.RFC3339),
		"outcomes":                 listText(m.Labels), "volume": number(m.Volume), "volumeNum": m.Volume, "volumeClob": m.Volume,
		"volume24hr": m.Volume24h, "volume1wk": min(m.Volume24h*7, m.Volume), "volume1mo": min(m.Volume24h*30, m.Volume),
		"volume1yr": m.Volume, "closed": m.Finished(), "acceptingOrders": !m.Finished(),
		"groupItemTitle": m.Candidate, "groupItemThreshold": strconv.Itoa(m.EventIndex), "questionID": m.QuestionID,
		"negRisk": m.Event.Exclusive, "negRiskRequestID": "", "umaResolutionStatuses": "[]",
		"lastTradePrice": top.Ask.Float(), "spread": (top.Ask - top.Bid).Float(),
		"oneDayPriceChange": (m.Price - m.Path(dayAgo)).Float(), "events": []venue.Object{s.event(m)},
	})
	if m.Category != "" {
		o["category"] = m.Category
	}
	if !m.End.IsZero() {
		o["endDate"], o["endDateIso"] = m.End.Format(time.RFC3339), m.End.Format(time.DateOnly)
	}
	if m.Event.Exclusive {
		o["negRiskMarketID"], o["negRiskRequestID"] = s.world.NegRiskID(m.Event.ID), m.QuestionID
	}
	prices := make([]string, len(m.Labels))
	for i, p := range m.Prices() {
		prices[i] = p.String()
	}
	o["outcomePrices"] = listText(prices)
	if len(m.Tokens) > 0 {
		o["clobTokenIds"] = listText(m.Tokens)
	}
	if m.State != world.Resolved {
		o["bestBid"], o["bestAsk"] = top.Bid.Float(), top.Ask.Float()
		o["liquidity"], o["liquidityNum"], o["liquidityClob"] = number(m.Liquidity), m.Liquidity, m.Liquidity
	}
	if m.Finished() {
		o["closedTime"] = m.Ended().Format(spaceTime)
	}
	if withTags {
		tags := make([]venue.Object, len(m.Tags))
		for i, t := range m.Tags {
			tags[i] = venue.Object{"id": t.ID, "label": t.Label, "slug": t.Slug, "requiresTranslation": false}
		}
		o["tags"] = tags
	}
	addOracle(o, m)
	return o
}

// addOracle adds to o the members that describe the state of the outcome oracle.
func addOracle(o venue.Object, m *world.Market) {
	statuses := map[world.State]string{
		world.Proposed: `["proposed"]`, world.Disputed: `["proposed", "disputed"]`, world.Resolved: `["proposed", "resolved"]`,
	}
	if text, has := statuses[m.State]; has {
		o["umaResolutionStatus"], o["umaResolutionStatuses"] = string(m.State), text
		o["umaEndDate"] = m.ChangedAt.Format(time.RFC3339)
	}
	if m.State == world.Resolved {
		o["resolvedBy"] = m.QuestionID[:42]
	}
}

func (s *Service) event(m *world.Market) venue.Object {
	created := m.Start.Add(-2 * time.Minute).Format(time.RFC3339)
	o := constants.With("event", venue.Object{
		"id": m.Event.ID, "ticker": m.Event.Slug, "slug": m.Event.Slug, "title": m.Event.Title, "description": m.Description,
		"startDate": m.Start.Format(time.RFC3339), "creationDate": created, "createdAt": created,
		"updatedAt": s.world.Now().Format(fineTime), "closed": m.Finished(), "liquidity": m.Liquidity, "volume": m.Volume,
		"volume24hr": m.Volume24h, "negRisk": m.Event.Exclusive, "enableNegRisk": m.Event.Exclusive,
	})
	if !m.End.IsZero() {
		o["endDate"] = m.End.Format(time.RFC3339)
	}
	if m.Event.Exclusive {
		o["negRiskMarketID"] = s.world.NegRiskID(m.Event.ID)
	}
	return o
}

// record responds with the JSON object of a market in the order-book service, or with status 404. The object contains the winner.
func (s *Service) record(w http.ResponseWriter, r *http.Request) {
	m, ok := s.world.Find(r.PathValue("condition"))
	if !ok || m.ConditionID != r.PathValue("condition") {
		clobError(w, http.StatusNotFound, "market not found")
		return
	}
	o := constants.With("record", venue.Object{
		"enable_order_book": !m.Finished(), "closed": m.Finished(), "accepting_orders": !m.Finished(),
		"accepting_order_timestamp": m.Start.Add(5 * time.Second).Format(time.RFC3339), "condition_id": m.ConditionID,
		"question_id": m.QuestionID, "question": m.Question, "description": m.Description, "market_slug": m.Slug,
		"end_date_iso": nil, "neg_risk": m.Event.Exclusive, "neg_risk_market_id": "", "neg_risk_request_id": "",
		"is_50_50_outcome": m.State == world.Resolved && m.Outcome == world.Invalid,
	})
	if !m.End.IsZero() {
		o["end_date_iso"] = m.End.Truncate(24 * time.Hour).Format(time.RFC3339)
	}
	if m.Event.Exclusive {
		o["neg_risk_market_id"], o["neg_risk_request_id"] = s.world.NegRiskID(m.Event.ID), m.QuestionID
	}
	prices, tokens, tags := m.Prices(), []venue.Object{}, []string{}
	for i, token := range m.Tokens {
		winner := m.State == world.Resolved && prices[i] == world.One
		tokens = append(tokens, venue.Object{"token_id": token, "outcome": m.Labels[i], "price": prices[i].Float(), "winner": winner})
	}
	for _, t := range m.Tags {
		tags = append(tags, t.Label)
	}
	o["tokens"], o["tags"] = tokens, tags
	venue.Answer(w, http.StatusOK, o)
}

// listText returns a list as JSON text with a space after each comma.
func listText(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		raw, _ := json.Marshal(s)
		out[i] = string(raw)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
