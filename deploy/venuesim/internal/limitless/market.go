package limitless

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const fineTime = "2006-01-02T15:04:05.000Z"

// status returns the value of the member status for a market: VenueState if it is set, otherwise a value for the state.
func status(m *world.Market) string {
	if m.VenueState != "" {
		return m.VenueState
	}
	switch m.State {
	case world.Proposed:
		return locked
	case world.Disputed:
		return disputed
	case world.Resolved:
		return resolved
	}
	return funded
}

// kind returns the kind of a market, pool or clob. A third of the invented markets outside groups have a pool.
func kind(m *world.Market) string {
	switch {
	case !m.Created() && !m.Event.Group && m.ID%3 == 0:
		return pool
	case m.Kind == "":
		return clob
	}
	return m.Kind
}

// tradable reports whether the list of active markets contains a market at the time now.
func tradable(m *world.Market, now time.Time) bool {
	word := status(m)
	return m.State == world.Open && (word == funded || word == flagged) && m.End.After(now)
}

// market returns the JSON object of a market, alone or in a group.
func (s *Service) market(m *world.Market) venue.Object {
	word := status(m)
	o := s.common(m)
	o["id"], o["slug"], o["title"], o["status"] = m.ID, m.Slug, m.YesQuestion(), word
	o["tradeType"], o["marketType"] = kind(m), "single"
	o["winningOutcomeIndex"], o["conditionId"] = nil, m.ConditionID
	if m.Event.Group {
		o["orderInGroup"] = m.EventIndex
		if m.Candidate != "" {
			o["title"] = m.Candidate
		}
	}
	addEnd(o, m.EndOfTrading(), m.State != world.Open, s.world.Now())
	o["volume"], o["volumeFormatted"] = money(m.Volume)
	price := m.Price
	if m.State == world.Resolved && m.Outcome == world.Invalid {
		price = world.One / 2
	}
	if kind(m) == pool {
		addPool(o, m, price)
	} else {
		addBook(o, m, price)
	}
	if word == draft || word == created {
		delete(o, "prices")
		delete(o, "tradePrices")
	}
	if word == resolved && m.Resolution != "none" {
		addResult(o, m)
	}
	return o
}

// common returns the members that markets and groups have in common.
func (s *Service) common(m *world.Market) venue.Object {
	categories, properties := []string{}, []venue.Object{}
	if m.Category != "" {
		categories = append(categories, m.Category)
	}
	for i, t := range m.Tags {
		categories = append(categories, t.Label)
		if i == 0 {
			properties = append(properties, venue.Object{"propertyKeySlug": "domain", "value": t.Slug})
		}
	}
	return constants.With("common", venue.Object{
		"description": "<p>" + strings.ReplaceAll(html.EscapeString(m.Description), "\n\n", "</p><p>") + "</p>",
		"createdAt":   m.Start.Format(fineTime), "updatedAt": s.world.Now().Format(fineTime),
		"categories": categories, "properties": properties,
	})
}

func addEnd(o venue.Object, end time.Time, over bool, now time.Time) {
	o["expirationTimestamp"], o["expirationDate"] = end.UnixMilli(), end.Format("Jan 2, 2006")
	o["expired"] = over || !end.After(now)
}

// addPool adds the prices and amounts of a market with a pool to o. Prices are from 0 to 100.
func addPool(o venue.Object, m *world.Market, p world.Price) {
	o["address"], o["positionIds"] = m.QuestionID[:42], m.Tokens
	o["prices"] = []float64{float64(p) / 10_000, float64(world.One-p) / 10_000}
	o["openInterest"], o["openInterestFormatted"] = money(m.Volume / 4)
	o["liquidity"], o["liquidityFormatted"] = money(m.Liquidity)
}

// addBook adds the prices of a market with an order book to o. Prices are from 0 to 1.
func addBook(o venue.Object, m *world.Market, p world.Price) {
	top, yes := m.Top(), m.YesIndex()
	take := []float64{top.Ask.Float(), (world.One - top.Bid).Float()}
	give := []float64{top.Bid.Float(), (world.One - top.Ask).Float()}
	o["prices"] = []float64{p.Float(), (world.One - p).Float()}
	o["tradePrices"] = venue.Object{
		"buy": venue.Object{"market": take, "limit": give}, "sell": venue.Object{"market": give, "limit": take},
	}
	o["tokens"] = venue.Object{"yes": m.Tokens[yes], "no": m.Tokens[1-yes]}
	if o["negRiskRequestId"] = nil; m.Event.Group {
		o["negRiskRequestId"] = m.QuestionID
	}
	o["isRewardable"], o["settings"] = true, constants.With("settings", venue.Object{})
	o["venue"] = venue.Object{"exchange": m.ConditionID[:42], "adapter": nil}
}

// addResult adds the winning outcome and the payouts to o. For INVALID it adds equal payouts for YES and NO, and no winning
// outcome.
func addResult(o venue.Object, m *world.Market) {
	switch m.Outcome {
	case world.Yes:
		o["winningOutcomeIndex"], o["payoutNumerators"] = 0, []string{"1", "0"}
	case world.No:
		o["winningOutcomeIndex"], o["payoutNumerators"] = 1, []string{"0", "1"}
	case world.Invalid:
		o["payoutNumerators"] = []string{"1", "1"}
	}
	o["resolutionTxHash"] = m.QuestionID
}

// group returns the JSON object of a group of markets. A group has no price and no winner.
func (s *Service) group(list []world.Market) venue.Object {
	first, now := &list[0], s.world.Now()
	o := s.common(first)
	o["id"], o["slug"], o["title"] = first.ID+2_000_000_000_000, groupSlug(first), first.Event.Title
	o["tradeType"], o["marketType"] = "group", "group"
	o["outcomeTokens"], o["ogImageURI"], o["dailyReward"] = []string{"Yes", "No"}, "", "0"
	o["negRiskMarketId"] = s.world.NegRiskID(first.Event.ID)
	end, volume, markets := first.End, 0.0, []venue.Object{}
	word := resolved
	for i := range list {
		m := &list[i]
		volume += m.Volume
		if m.End.After(end) {
			end = m.End
		}
		switch state := status(m); {
		case tradable(m, now):
			word = funded
		case state != resolved && state != draft && state != created && word != funded:
			word = locked
		}
		markets = append(markets, s.market(m))
	}
	o["status"], o["markets"] = word, markets
	addEnd(o, end, false, now)
	o["volume"], o["volumeFormatted"] = money(volume)
	return o
}

// money returns an amount twice: as text in millionths, and as decimal text with six decimals.
func money(v float64) (millionths, text string) {
	n := int64(v * 1e6)
	return strconv.FormatInt(n, 10), fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000)
}
