package httpapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// MostSituations is how many situations are followed: as many as GET /api/situations
// shows.
const MostSituations = 100

// situationJSON is a row of GET /api/situations of the hub, and when it ended.
type situationJSON struct {
	openapi.Situation
	EndedAt *string `json:"endedAt"` // null while it lasts
}

func showSituation(hubURL string, s *movement.Situation) situationJSON {
	lead := s.Lead()
	name, link := string(lead.ID), hubURL+"/m/"+string(lead.ID)
	if lead.EventKey != "" {
		name, link = lead.EventKey, hubURL+"/s/"+url.PathEscape(lead.EventKey)
	}
	out := openapi.Situation{
		ID:       "sit:" + string(wireWindow) + ":" + string(lead.Provider) + ":" + name,
		EventKey: httpx.OrNull(lead.EventKey), Provider: string(lead.Provider), Headline: s.Headline(), Lane: string(lead.Lane),
		Markets: make([]openapi.SituationMarket, 0, len(s.Moves)), MarketCount: int64(s.Count),
		LeadMarketID: string(lead.Provider) + ":" + string(lead.ID),
		PeakDelta:    probability(s.Peak()), Volume: s.Volume, SituationScore: int64(s.Score), Criticality: string(s.Criticality()),
		DetectedAt: protocol.Stamp(s.DetectedAt), URL: link,
	}
	for i := range s.Moves {
		m := &s.Moves[i]
		out.Markets = append(out.Markets, openapi.SituationMarket{
			MarketID: string(m.Market.Provider) + ":" + string(m.Market.ID), Title: m.Market.Title, Outcome: m.Market.Outcome,
			FromProbability: probability(int(m.From)), ToProbability: probability(int(m.To)), Delta: probability(m.Delta()),
			Volume: *m.Market.Volume, URL: hubURL + "/m/" + string(m.Market.ID),
		})
	}
	return situationJSON{Situation: out}
}

// Situations is what readers were told of situations, by their keys. It holds nothing of
// the reading that it was made from.
type Situations map[string]situationJSON

// mark returns the members whose change is published: the leading market, the headline, the criticality, the score and the number
// of markets. A change of other members alone is not published.
func mark(r situationJSON) string {
	return fmt.Sprintf("%s\n%s\n%s\n%d\n%d", r.LeadMarketID, r.Headline, r.Criticality, r.SituationScore, r.MarketCount)
}

// SituationNews returns the events of situations that began, changed (see mark) or ended since before, and the situations that
// are published now. before is nil for the first reading, which has no events. list has every situation, by score.
func (s *Server) SituationNews(before Situations, list []movement.Situation) ([]feed.Ephemeral, Situations) {
	now := s.Now()
	var out []feed.Ephemeral
	tell := func(key string, r situationJSON) {
		out = append(out, feed.Ephemeral{Channel: feed.Wire, Type: feed.SituationUpdated, Subject: key, At: now, Data: encode(r)})
	}
	after := make(Situations, MostSituations)
	for i := range list {
		key := list[i].Key()
		last, was := before[key]
		if !was && i >= MostSituations {
			continue
		}
		row := showSituation(s.HubURL, &list[i])
		if before != nil && mark(last) != mark(row) {
			tell(key, row)
		}
		after[key] = row
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, lasts := after[key]; !lasts {
			row, at := before[key], protocol.Stamp(now)
			row.EndedAt = &at
			tell(key, row)
		}
	}
	return out, after
}
