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

// MaxSituations is the maximum number of situations that GET /api/situations returns. The start of a situation is published
// only if the situation is among this number of situations with the highest scores.
const MaxSituations = 100

// situationJSON is an item of GET /api/situations with the additional member endedAt.
type situationJSON struct {
	openapi.Situation
	EndedAt *string `json:"endedAt"` // null until the situation ends
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

// Situations maps the key of each published situation to its JSON, as last published. It has no references to the data from
// which it was computed.
type Situations map[string]situationJSON

// publishedMembers returns one text with the members of a situation that cause an event when they change. These are the
// leading market, the headline, the criticality, the score and the number of markets.
func publishedMembers(r situationJSON) string {
	return fmt.Sprintf("%s\n%s\n%s\n%d\n%d", r.LeadMarketID, r.Headline, r.Criticality, r.SituationScore, r.MarketCount)
}

// SituationEvents compares the situations in before, which were published last, with the current situations in list, which
// are ordered by score. It returns an event for each situation that was added, ended, or changed in a member of
// publishedMembers. It also returns the situations that are published now. On the first call, before is nil, and
// SituationEvents returns no events.
func (s *Server) SituationEvents(before Situations, list []movement.Situation) ([]feed.Ephemeral, Situations) {
	now := s.Now()
	var out []feed.Ephemeral
	publish := func(key string, r situationJSON) {
		out = append(out, feed.Ephemeral{Channel: feed.Wire, Type: feed.SituationUpdated, Subject: key, At: now, Data: encode(r)})
	}
	after := make(Situations, MaxSituations)
	for i := range list {
		key := list[i].Key()
		last, was := before[key]
		if !was && i >= MaxSituations {
			continue
		}
		row := showSituation(s.HubURL, &list[i])
		if before != nil && publishedMembers(last) != publishedMembers(row) {
			publish(key, row)
		}
		after[key] = row
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, lasts := after[key]; !lasts {
			row, at := before[key], protocol.Stamp(now)
			row.EndedAt = &at
			publish(key, row)
		}
	}
	return out, after
}
