package polymarket

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	fineTime  = "2006-01-02T15:04:05.999999Z"
	spaceTime = "2006-01-02 15:04:05+00"
	exactTime = "2006-01-02 15:04:05.999+00" // the venue gives closing times with a fraction
	picture   = "https://assets.example.test/m.png"
)

// market writes a market as the metadata service does.
func (s *Service) market(m *world.Market, withTags, withEvent bool) any {
	if m.Raw != nil {
		return s.recorded(m)
	}
	prices := m.Prices()
	g := gammaMarket{
		ID: strconv.FormatInt(m.ID, 10), Question: m.Question, ConditionID: m.ConditionID, Slug: m.Slug, Category: m.Category,
		StartDate: m.Start.Format(fineTime), Image: picture, Icon: picture, Description: m.Description,
		Outcomes: inner(m.Outcomes), Volume: number(m.Volume), Active: !m.Placeholder, Closed: m.Finished(),
		CreatedAt: m.Start.Add(-109 * time.Second).Format(fineTime), UpdatedAt: s.world.Now().Format(fineTime),
		Restricted: true, GroupItemTitle: m.GroupTitle, GroupItemThreshold: strconv.Itoa(m.GroupIndex), QuestionID: m.QuestionID,
		EnableOrderBook: true, OrderPriceMinTickSize: 0.001, OrderMinSize: 5, VolumeNum: m.Volume,
		StartDateIso: m.Start.Format(time.DateOnly), HasReviewedDates: true, Volume24hr: m.Volume24h,
		Volume1wk: min(m.Volume24h*7, m.Volume), Volume1mo: min(m.Volume24h*30, m.Volume), Volume1yr: m.Volume,
		UmaBond: "500", UmaReward: "5", VolumeClob: m.Volume, AcceptingOrders: !m.Finished() && !m.Placeholder,
		NegRisk: m.NegRisk, AcceptingOrdersTimestamp: m.Start.Add(5 * time.Second).Format(time.RFC3339),
		Competitive: 0.98, Approved: true, RewardsMinSize: 50, RewardsMaxSpread: 3.5,
		AutomaticallyActive: true, ClearBookOnStart: true, NegRiskOther: m.Placeholder,
		SportsMarketType: m.SportsType, UmaResolutionStatuses: "[]",
	}
	if !m.End.IsZero() {
		g.EndDate, g.EndDateIso = m.End.Format(time.RFC3339), m.End.Format(time.DateOnly)
		if m.SportsType != "" {
			g.GameStartTime = m.End.Format(spaceTime)
		}
	}
	if m.NegRisk {
		g.NegRiskMarketID, g.NegRiskRequestID = s.world.IDs.NegRisk(m.Event.ID), m.QuestionID
	}
	if !m.Placeholder {
		g.OutcomePrices, g.ClobTokenIDs = inner(priceTexts(prices)), inner(m.Tokens)
	}
	s.money(&g, m, prices)
	oracle(&g, m)
	if withEvent {
		g.Events = []gammaEvent{s.event(m)}
	}
	if withTags {
		g.Tags = tags(m.Tags)
	}
	return g
}

// money fills in what trading shows; it goes away when the market is final.
func (s *Service) money(g *gammaMarket, m *world.Market, prices []world.Micros) {
	if m.Placeholder {
		g.Spread = 1
		g.Liquidity, g.LiquidityNum, g.LiquidityClob = number(m.Liquidity), &m.Liquidity, &m.Liquidity
		return
	}
	top := m.Tops()[0]
	bid, ask := top.Bid, top.Ask
	g.LastTradePrice, g.Spread = ask.Float(), (ask - bid).Float()
	before := m.Path(max(m.Start.Unix(), m.Until(s.world.Now()).Unix()-86400))
	g.OneDayPriceChange = (m.Price - before).Float()
	if m.State == world.Resolved {
		return
	}
	b, a := bid.Float(), ask.Float()
	g.BestBid, g.BestAsk = &b, &a
	g.Liquidity, g.LiquidityNum, g.LiquidityClob = number(m.Liquidity), &m.Liquidity, &m.Liquidity
}

// oracle fills in what the outcome oracle has said so far.
func oracle(g *gammaMarket, m *world.Market) {
	if m.Finished() {
		g.ClosedTime = m.Ended().Format(exactTime)
	}
	switch m.State {
	case world.Proposed:
		g.UmaResolutionStatus, g.UmaResolutionStatuses = "proposed", `["proposed"]`
	case world.Disputed:
		g.UmaResolutionStatus, g.UmaResolutionStatuses = "disputed", `["proposed", "disputed"]`
	case world.Resolved:
		g.UmaResolutionStatus, g.UmaResolutionStatuses = "resolved", `["proposed", "resolved"]`
		g.ResolvedBy = "0x" + m.QuestionID[2:42]
	default:
		return
	}
	g.UmaEndDate = m.ChangedAt.Format(time.RFC3339)
}

func (s *Service) event(m *world.Market) gammaEvent {
	e := gammaEvent{
		ID: m.Event.ID, Ticker: m.Event.Slug, Slug: m.Event.Slug, Title: m.Event.Title, Description: m.Description,
		StartDate: m.Start.Format(time.RFC3339), CreationDate: m.Start.Add(-2 * time.Minute).Format(time.RFC3339),
		Active: true, Closed: m.Finished(), Restricted: true, Liquidity: m.Liquidity, Volume: m.Volume,
		CreatedAt: m.Start.Add(-2 * time.Minute).Format(time.RFC3339), UpdatedAt: s.world.Now().Format(fineTime),
		Competitive: 0.98, Volume24hr: m.Volume24h, EnableOrderBook: true, NegRisk: m.Event.NegRisk, CommentCount: 3,
		ShowAllOutcomes: true, EnableNegRisk: m.Event.NegRisk,
	}
	if !m.End.IsZero() {
		e.EndDate = m.End.Format(time.RFC3339)
	}
	if m.Event.NegRisk {
		e.NegRiskMarketID = s.world.IDs.NegRisk(m.Event.ID)
	}
	return e
}

// recorded gives a recorded object back whole, with a test's changes on top.
func (s *Service) recorded(m *world.Market) any {
	if !m.Patched {
		return m.Raw
	}
	var fields map[string]any
	if json.Unmarshal(m.Raw, &fields) != nil {
		return m.Raw
	}
	prices := m.Prices()
	g := gammaMarket{UmaResolutionStatuses: "[]"}
	oracle(&g, m)
	fields["closed"], fields["acceptingOrders"] = m.Finished(), !m.Finished()
	fields["outcomePrices"], fields["umaResolutionStatuses"] = inner(priceTexts(prices)), g.UmaResolutionStatuses
	top := m.Tops()[0]
	fields["bestBid"], fields["bestAsk"], fields["lastTradePrice"] = top.Bid.Float(), top.Ask.Float(), top.Ask.Float()
	for key, text := range map[string]string{
		"umaResolutionStatus": g.UmaResolutionStatus, "closedTime": g.ClosedTime, "umaEndDate": g.UmaEndDate, "resolvedBy": g.ResolvedBy,
	} {
		delete(fields, key)
		if text != "" {
			fields[key] = text
		}
	}
	if m.State == world.Resolved {
		for _, key := range []string{"bestBid", "bestAsk", "liquidity", "liquidityNum", "liquidityClob"} {
			delete(fields, key)
		}
	}
	return fields
}

func tags(list []world.Tag) *[]gammaTag {
	out := make([]gammaTag, len(list))
	for i, t := range list {
		out[i] = gammaTag{ID: t.ID, Label: t.Label, Slug: t.Slug}
	}
	return &out
}

// inner writes a list as JSON text with the venue's space after each comma.
func inner(list []string) string {
	out := "["
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		raw, err := json.Marshal(s)
		if err != nil {
			continue
		}
		out += string(raw)
	}
	return out + "]"
}

func priceTexts(prices []world.Micros) []string {
	out := make([]string, len(prices))
	for i, p := range prices {
		out[i] = p.String()
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
