package edge

import (
	"context"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/wire"
)

func readSituations(rawQuery string) wire.Query {
	return readWire(rawQuery, wire.DefaultSituations, wire.MaxSituations)
}

// wireSituations is GET /api/situations. A ledger that is away is covered for as
// on the wire.
func (s *server) wireSituations(c echo.Context) error {
	q := readSituations(c.Request().URL.RawQuery)
	key := wireKey(q)
	build := func(ctx context.Context) ([]byte, error) {
		list, err := s.Wire.Situations(ctx, q)
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(s.showSituations(q, list))
		if err != nil {
			return nil, err
		}
		return body, s.situations.keep(ctx, key, body)
	}
	return s.covered(c, s.situations, key, build, func() any { return s.showSituations(q, wire.Situations{GeneratedAt: s.Now()}) })
}

func (s *server) showSituations(q wire.Query, list wire.Situations) openapi.Situations {
	out := openapi.Situations{
		Window: string(q.Window), Lane: orNull(string(q.Lane)), Count: int64(len(list.Situations)),
		GeneratedAt: syntax.Stamp(list.GeneratedAt), Situations: make([]openapi.Situation, 0, len(list.Situations)),
	}
	for i := range list.Situations {
		out.Situations = append(out.Situations, s.showSituation(q.Window, &list.Situations[i]))
	}
	return out
}

func (s *server) showSituation(window syntax.Window, sit *wire.Situation) openapi.Situation {
	lead := &sit.Markets[0]
	out := openapi.Situation{
		ID:       "sit:" + string(window) + ":" + string(sit.Provider) + ":" + sit.Key(),
		EventKey: orNull(sit.EventKey), Provider: string(sit.Provider), Headline: sit.Headline, Lane: string(sit.Lane),
		Markets: make([]openapi.SituationMarket, 0, len(sit.Markets)), MarketCount: int64(sit.Count), LeadMarketID: wireID(lead),
		PeakDelta: probability(lead.Delta()), Volume: sit.Volume, SituationScore: int64(sit.Score), Criticality: sit.Criticality,
		DetectedAt: syntax.Stamp(sit.DetectedAt), URL: s.situationURL(sit),
	}
	for i := range sit.Markets {
		m := &sit.Markets[i]
		out.Markets = append(out.Markets, openapi.SituationMarket{
			MarketID: wireID(m), Title: m.Title, Outcome: m.Outcome, FromProbability: probability(m.From),
			ToProbability: probability(m.To), Delta: probability(m.Delta()), Volume: m.Volume, URL: s.marketURL(m.MarketID),
		})
	}
	return out
}

// situationURL leads to the market that leads, over the event where there is one:
// the lead may be another one tomorrow.
func (s *server) situationURL(sit *wire.Situation) string {
	if sit.EventKey == "" {
		return s.marketURL(sit.Markets[0].MarketID)
	}
	return s.HubURL + "/s/" + url.PathEscape(sit.EventKey)
}
