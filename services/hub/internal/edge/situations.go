package edge

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

func readSituations(rawQuery string) wireQuery {
	return readWire(rawQuery, defaultSituations, maxSituations)
}

// listSituations returns the situations that the ledger has measured, without those that name no market.
func listSituations(
	ctx context.Context, ledger wirev1.WireReadServiceClient, q wireQuery,
) (*wirev1.ListSituationsResponse, error) {
	r, err := ledger.ListSituations(ctx, &wirev1.ListSituationsRequest{
		Window: string(q.window), Lane: string(q.lane), Limit: int32(q.limit),
	})
	if err != nil {
		return nil, err
	}
	r.Situations = slices.DeleteFunc(r.GetSituations(), func(s *wirev1.Situation) bool { return len(s.GetMarkets()) == 0 })
	return r, nil
}

// wireSituations is GET /api/situations. A ledger that is away is covered for as
// on the wire.
func (s *server) wireSituations(c echo.Context) error {
	q := readSituations(c.Request().URL.RawQuery)
	key := wireKey(q)
	build := func(ctx context.Context) ([]byte, error) {
		list, err := listSituations(ctx, s.Ledger.Wire, q)
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(s.showSituations(q, list))
		if err != nil {
			return nil, err
		}
		return body, s.situations.keep(ctx, key, body)
	}
	return s.covered(c, s.situations, key, build, func() any {
		return s.showSituations(q, &wirev1.ListSituationsResponse{GeneratedAt: timestamppb.New(s.Now())})
	})
}

func (s *server) showSituations(q wireQuery, list *wirev1.ListSituationsResponse) openapi.Situations {
	out := openapi.Situations{
		Window: string(q.window), Lane: orNull(string(q.lane)), Count: int64(len(list.GetSituations())),
		GeneratedAt: stamp(list.GetGeneratedAt()), Situations: make([]openapi.Situation, 0, len(list.GetSituations())),
	}
	for _, sit := range list.GetSituations() {
		out.Situations = append(out.Situations, s.showSituation(q.window, sit))
	}
	return out
}

func (s *server) showSituation(window syntax.Window, sit *wirev1.Situation) openapi.Situation {
	lead := sit.GetMarkets()[0]
	out := openapi.Situation{
		ID:       "sit:" + string(window) + ":" + sit.GetProvider() + ":" + cmp.Or(sit.GetEventKey(), lead.GetMarketId()),
		EventKey: orNull(sit.GetEventKey()), Provider: sit.GetProvider(), Headline: sit.GetHeadline(), Lane: sit.GetLane(),
		Markets: make([]openapi.SituationMarket, 0, len(sit.GetMarkets())), MarketCount: int64(sit.GetMarketCount()),
		LeadMarketID: wireID(lead),
		PeakDelta:    probability(delta(lead)), Volume: sit.GetVolume(), SituationScore: int64(sit.GetScore()),
		Criticality: sit.GetCriticality(),
		DetectedAt:  stamp(sit.GetDetectedAt()), URL: s.situationURL(sit),
	}
	for _, m := range sit.GetMarkets() {
		out.Markets = append(out.Markets, openapi.SituationMarket{
			MarketID: wireID(m), Title: m.GetTitle(), Outcome: m.GetOutcome(), FromProbability: probability(m.GetFromBps()),
			ToProbability: probability(m.GetToBps()), Delta: probability(delta(m)), Volume: m.GetVolume(),
			URL: s.marketURL(syntax.MarketID(m.GetMarketId())),
		})
	}
	return out
}

// situationURL leads to the market that leads, over the event where there is one:
// the lead may be another one tomorrow.
func (s *server) situationURL(sit *wirev1.Situation) string {
	if sit.GetEventKey() == "" {
		return s.marketURL(syntax.MarketID(sit.GetMarkets()[0].GetMarketId()))
	}
	return s.HubURL + "/s/" + url.PathEscape(sit.GetEventKey())
}
