package edge

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/wire"
)

// MostSituations is how many situations are followed: as many as GET /api/situations
// shows.
const MostSituations = 100

// situationJSON is a row of GET /api/situations of the hub, and when it ended.
type situationJSON struct {
	ID             string                    `json:"id"`
	EventKey       *string                   `json:"eventKey"`
	Provider       string                    `json:"provider"`
	Headline       string                    `json:"headline"`
	Lane           string                    `json:"lane"`
	Markets        []openapi.SituationMarket `json:"markets"`
	MarketCount    int                       `json:"marketCount"`
	LeadMarketID   string                    `json:"leadMarketId"` // <provider>:<id>
	PeakDelta      float64                   `json:"peakDelta"`
	Volume         float64                   `json:"volume"`
	SituationScore int                       `json:"situationScore"`
	Criticality    string                    `json:"criticality"`
	DetectedAt     string                    `json:"detectedAt"`
	URL            string                    `json:"url"`
	EndedAt        *string                   `json:"endedAt"` // null while it lasts
}

func showSituation(hubURL string, s *wire.Situation) situationJSON {
	lead := s.Lead()
	name, link := string(lead.ID), hubURL+"/m/"+string(lead.ID)
	if lead.EventKey != "" {
		name, link = lead.EventKey, hubURL+"/s/"+url.PathEscape(lead.EventKey)
	}
	out := situationJSON{
		ID:       "sit:" + string(wireWindow) + ":" + string(lead.Provider) + ":" + name,
		EventKey: orNull(lead.EventKey), Provider: string(lead.Provider), Headline: s.Headline(), Lane: string(lead.Lane),
		Markets: make([]openapi.SituationMarket, 0, len(s.Moves)), MarketCount: s.Count,
		LeadMarketID: string(lead.Provider) + ":" + string(lead.ID),
		PeakDelta:    probability(s.Peak()), Volume: s.Volume, SituationScore: s.Score, Criticality: string(s.Criticality()),
		DetectedAt: syntax.Stamp(s.DetectedAt), URL: link,
	}
	for i := range s.Moves {
		m := &s.Moves[i]
		out.Markets = append(out.Markets, openapi.SituationMarket{
			MarketID: string(m.Market.Provider) + ":" + string(m.Market.ID), Title: m.Market.Title, Outcome: m.Market.Outcome,
			FromProbability: probability(int(m.From)), ToProbability: probability(int(m.To)), Delta: probability(m.Delta()),
			Volume: *m.Market.Volume, URL: hubURL + "/m/" + string(m.Market.ID),
		})
	}
	return out
}

// Situations is what readers were told of situations, by their keys. It holds nothing of
// the reading that it was made from.
type Situations map[string]situationTold

type situationTold struct {
	mark string // differs when the situation is materially another one
	row  situationJSON
}

// mark is what makes a situation another one to its readers: who leads, how far, how
// many move and how much it matters. Volumes and the prices of the others pass.
func mark(r *situationJSON) string {
	return r.LeadMarketID + "\n" + r.Headline + "\n" + r.Criticality + "\n" + strconv.Itoa(r.SituationScore) + "\n" + strconv.Itoa(r.MarketCount)
}

// SituationNews makes the news of situations that have appeared, changed materially or
// ended since before, which is nil for the first reading: what is there then is no
// news. list is every situation, by score. It gives what is told now.
func (s *Server) SituationNews(before Situations, list []wire.Situation) ([]feed.Ephemeral, Situations) {
	now := s.inner.Now()
	var out []feed.Ephemeral
	tell := func(key string, r *situationJSON) {
		out = append(out, feed.Ephemeral{Channel: feed.Wire, Type: feed.SituationUpdated, Subject: key, At: now, Data: encode(r)})
	}
	after := make(Situations, MostSituations)
	for i := range list {
		key := list[i].Key()
		last, was := before[key]
		if !was && i >= MostSituations {
			continue
		}
		row := showSituation(s.inner.hubURL, &list[i])
		one := situationTold{mark: mark(&row), row: row}
		if before != nil && last.mark != one.mark {
			tell(key, &row)
		}
		after[key] = one
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, lasts := after[key]; !lasts {
			row, at := before[key].row, syntax.Stamp(now)
			row.EndedAt = &at
			tell(key, &row)
		}
	}
	return out, after
}
