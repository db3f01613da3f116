package edge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
)

// networkMarket is GET /api/network/market/{marketId}.
func (s *server) networkMarket(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	shown, err := s.networkAnswer(c.Request().Context(), id)
	if err != nil {
		return err
	}
	undated := shown
	undated.FetchedAt = ""
	return taggedBy(c, shown, undated)
}

// networkAnswer reads a market with its crowd. Fault: not_found.
func (s *server) networkAnswer(ctx context.Context, id syntax.MarketID) (openapi.NetworkMarketAnswer, error) {
	m, err := s.Markets.Market(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, oneThing(err)
	}
	record, err := s.Resolutions.Outcome(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, err
	}
	crowd, err := s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id)})
	if err != nil {
		return openapi.NetworkMarketAnswer{}, err
	}
	return openapi.NetworkMarketAnswer{
		Market: s.showNetworkMarket(&m, record), Crowd: showNetworkCrowd(crowd), FetchedAt: syntax.Stamp(s.Now()),
	}, nil
}

func (s *server) showNetworkMarket(m *market.Market, record *resolution.Outcome) openapi.NetworkMarket {
	out := openapi.NetworkMarket{
		ID: string(m.ID), Provider: string(m.Provider), Title: m.Title, Volume: m.VolumeUSD, Status: string(m.Status),
		Outcome: m.ResolutionValue, EndDate: syntax.StampOrNull(m.EndDate), URL: cmp.Or(m.URL, s.HubURL+"/m/"+string(m.ID)),
		UpdatedAt: syntax.Stamp(m.UpdatedAt), Lane: string(m.Lane), EventKey: orNull(m.EventKey), ClobTokenID: orNull(m.ClobTokenID),
	}
	if m.Yes != nil {
		yes := syntax.Bps(*m.Yes)
		no := yes.Of(syntax.No)
		yesPrice, noPrice := yes.Probability(), no.Probability()
		out.YesPrice, out.NoPrice = &yesPrice, &noPrice
	}
	if record != nil {
		shown := showOutcome(*record)
		out.Resolution = &shown
	}
	return out
}

func showNetworkCrowd(crowd *signalv1.GetCrowdResponse) openapi.NetworkCrowd {
	out := openapi.NetworkCrowd{TotalSignals: crowd.GetYes() + crowd.GetNo()}
	if out.TotalSignals > 0 {
		yes := sharePercent(crowd.GetYes(), out.TotalSignals)
		no := 100 - yes
		out.YesPercent, out.NoPercent = &yes, &no
	}
	return out
}

// errBadMarket leaves a list of one market without it.
var errBadMarket = errors.New("no market has this id")

// gaps is GET /api/network/crowd.
func (s *server) gaps(c echo.Context) error {
	var list []market.Gap
	id, err := optMarket(c)
	if err == nil {
		list, err = s.Catalogue.Gaps(c.Request().Context(), id, syntax.Limit(c.QueryParam("limit"), market.DefaultGaps, market.MaxGaps))
	}
	if err != nil && !errors.Is(err, errBadMarket) {
		return err
	}
	shown := openapi.CrowdGaps{Markets: make([]openapi.CrowdGaps_Markets, 0, len(list)), FetchedAt: syntax.Stamp(s.Now())}
	for i := range list {
		if g, ok := showGap(&list[i]); ok {
			shown.Markets = append(shown.Markets, g)
		}
	}
	slices.SortStableFunc(shown.Markets, func(a, b openapi.CrowdGaps_Markets) int { return cmp.Compare(abs(b.GapBps), abs(a.GapBps)) })
	undated := shown
	undated.FetchedAt = ""
	return taggedBy(c, shown, undated)
}

func (s *server) emptyGaps(echo.Context) any {
	return openapi.CrowdGaps{Markets: []openapi.CrowdGaps_Markets{}, FetchedAt: syntax.Stamp(s.Now())}
}

// optMarket reads a market that need not be named.
func optMarket(c echo.Context) (syntax.MarketID, error) {
	raw := c.QueryParam("market")
	if raw == "" {
		return "", nil
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return "", errBadMarket
	}
	return id, nil
}

func showGap(g *market.Gap) (openapi.CrowdGaps_Markets, bool) {
	total := g.Yes + g.No
	if g.Market.Yes == nil || total == 0 {
		return openapi.CrowdGaps_Markets{}, false
	}
	yes := sharePercent(g.Yes, total)
	return openapi.CrowdGaps_Markets{
		MarketID: string(g.Market.ID), Title: g.Market.Title, TotalSignals: total, YesPercent: yes,
		MarketYesBps: int64(*g.Market.Yes), GapBps: 100*yes - int64(*g.Market.Yes),
	}, true
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
