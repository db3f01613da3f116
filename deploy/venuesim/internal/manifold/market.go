package manifold

import (
	"cmp"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// createdAt returns the creation time of a market in milliseconds. It adds up to 996 ms to the start of an invented market,
// because clients use this time as the cursor of lists and markets often start at the same time.
func createdAt(m *world.Market) int64 {
	if m.Created() {
		return m.Start.UnixMilli()
	}
	return m.Start.UnixMilli() + m.ID%997
}

// short returns the JSON object that represents a market in lists. After the end of trading, the probability is the price of the
// last trade.
func (s *Service) short(m *world.Market) venue.Object {
	now, p := s.world.Now(), m.Price.Float()
	o := constants.With("market", venue.Object{
		"id": s.Key(m), "createdTime": createdAt(m), "question": m.YesQuestion(), "slug": m.Slug,
		"url": "https://manifold.markets/inventeduser/" + m.Slug, "pool": venue.Object{"YES": 2000 * (1 - p), "NO": 2000 * p},
		"probability": p, "totalLiquidity": m.Liquidity, "volume": m.Volume, "volume24Hours": m.Volume24h,
		"closeTime": m.EndOfTrading().UnixMilli(), "lastUpdatedTime": now.UnixMilli(), "lastCommentTime": createdAt(m),
		"lastBetTime": m.LastPriceAt(now).UnixMilli(), "isResolved": false, "creatorId": cmp.Or(m.Creator, "u1Invented0000000000"),
	})
	if m.Outcome == "" || m.State == world.Open || m.State == world.Closed {
		return o
	}
	o["isResolved"], o["resolution"], o["resolutionTime"] = true, string(m.Outcome), m.ChangedAt.UnixMilli()
	o["resolutionProbability"] = p
	switch {
	case m.Outcome != world.Invalid:
	case m.Payout != nil:
		o["resolution"], o["resolutionProbability"] = "MKT", m.Payout.Float()
	case m.Resolution == "MKT":
		o["resolution"], o["resolutionProbability"] = "MKT", 0.5
	default:
		o["resolution"] = "CANCEL"
	}
	return o
}

// full returns the JSON object of a single market: the object in lists, with the description and the topics in addition.
func (s *Service) full(m *world.Market) venue.Object {
	o, topics := s.short(m), make([]string, len(m.Tags))
	for i, t := range m.Tags {
		topics[i] = t.Slug + "-default"
	}
	paragraph := venue.Object{"type": "paragraph", "content": []venue.Object{{"type": "text", "text": m.Description}}}
	o["description"] = venue.Object{"type": "doc", "content": []venue.Object{paragraph}}
	o["textDescription"], o["groupSlugs"] = m.Description, topics
	return o
}
