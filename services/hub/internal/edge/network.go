package edge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
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
	m, err := s.readMarket(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, oneThing(err)
	}
	outcome, err := s.readOutcome(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, err
	}
	crowd, err := s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id)})
	if err != nil {
		return openapi.NetworkMarketAnswer{}, err
	}
	return openapi.NetworkMarketAnswer{
		Market: s.showNetworkMarket(m, outcome), Crowd: showNetworkCrowd(crowd), FetchedAt: syntax.Stamp(s.Now()),
	}, nil
}

func (s *server) showNetworkMarket(m *marketv1.Market, outcome *resolutionv1.Outcome) openapi.NetworkMarket {
	out := openapi.NetworkMarket{
		ID: m.GetId(), Provider: m.GetProvider(), Title: m.GetTitle(), Volume: m.VolumeUsd, Status: m.GetStatus(),
		Outcome: m.ResolutionValue, EndDate: ledgerclient.StampOrNull(m.GetEndDate()),
		URL: cmp.Or(m.GetUrl(), s.HubURL+"/m/"+m.GetId()), UpdatedAt: ledgerclient.Stamp(m.GetUpdatedAt()), Lane: m.GetLane(), EventKey: orNull(m.GetEventKey()),
		ClobTokenID: orNull(m.GetClobTokenId()), Resolution: showOutcome(outcome),
	}
	if m.YesBps != nil {
		yes := syntax.Bps(m.GetYesBps())
		no := yes.Of(syntax.No)
		yesPrice, noPrice := yes.Probability(), no.Probability()
		out.YesPrice, out.NoPrice = &yesPrice, &noPrice
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
	var r *cataloguev1.ListGapsResponse
	id, err := optMarket(c)
	if err == nil {
		r, err = s.Ledger.Catalogue.ListGaps(c.Request().Context(), &cataloguev1.ListGapsRequest{
			MarketId: string(id), Limit: int32(syntax.Limit(c.QueryParam("limit"), market.DefaultGaps, market.MaxGaps)),
		})
	}
	if err != nil && !errors.Is(err, errBadMarket) {
		return err
	}
	shown := openapi.CrowdGaps{Markets: make([]openapi.CrowdGaps_Markets, 0, len(r.GetGaps())), FetchedAt: syntax.Stamp(s.Now())}
	for _, one := range r.GetGaps() {
		if g, ok := showGap(one); ok {
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

// showGap reports false for a market without a price or without a call.
func showGap(g *cataloguev1.Gap) (openapi.CrowdGaps_Markets, bool) {
	m, total := g.GetMarket(), g.GetCrowdYes()+g.GetCrowdNo()
	if m.YesBps == nil || total == 0 {
		return openapi.CrowdGaps_Markets{}, false
	}
	yes, price := sharePercent(g.GetCrowdYes(), total), int64(m.GetYesBps())
	return openapi.CrowdGaps_Markets{
		MarketID: m.GetId(), Title: m.GetTitle(), TotalSignals: total, YesPercent: yes, MarketYesBps: price, GapBps: 100*yes - price,
	}, true
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
