package stationapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// ToolMarket is the MCP tool get_market. It returns the result of GET /api/network/market/{marketId}.
func (s *Server) ToolMarket(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	raw := o.String("marketId", httpx.BodyLimit, true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return nil, market.ErrUnknown
	}
	return s.networkAnswer(ctx, id)
}

// NetworkMarket handles GET /api/network/market/{marketId}, a market with its outcome and its counts of YES and NO calls.
func (s *Server) NetworkMarket(c echo.Context, id protocol.MarketID) error {
	shown, err := s.networkAnswer(c.Request().Context(), id)
	if err != nil {
		return err
	}
	undated := shown
	undated.FetchedAt = ""
	return httpx.TaggedBy(c, shown, undated)
}

// networkAnswer reads a market with its outcome and its counts of YES and NO calls. Error: not_found.
func (s *Server) networkAnswer(ctx context.Context, id protocol.MarketID) (openapi.NetworkMarketAnswer, error) {
	m, err := s.Ledger.Market(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, market.ReadError(err)
	}
	outcome, err := s.Ledger.Outcome(ctx, id)
	if err != nil {
		return openapi.NetworkMarketAnswer{}, err
	}
	crowd, err := s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id)})
	return openapi.NetworkMarketAnswer{
		Market: s.showNetworkMarket(m, outcome), Crowd: showNetworkCrowd(crowd), FetchedAt: protocol.Stamp(s.Now()),
	}, err
}

func (s *Server) showNetworkMarket(m *marketv1.Market, outcome *resolutionv1.Outcome) openapi.NetworkMarket {
	out := openapi.NetworkMarket{
		ID: m.GetId(), Provider: m.GetProvider(), Title: m.GetTitle(), Volume: m.VolumeUsd, Status: m.GetStatus(),
		Outcome: m.ResolutionValue, EndDate: ledgerclient.StampOrNull(m.GetEndDate()),
		URL: cmp.Or(m.GetUrl(), s.HubURL+"/m/"+m.GetId()), UpdatedAt: ledgerclient.Stamp(m.GetUpdatedAt()), Lane: m.GetLane(),
		EventKey:    httpx.OrNull(m.GetEventKey()),
		ClobTokenID: httpx.OrNull(m.GetClobTokenId()), Resolution: view.ShowOutcome(outcome),
		Sides: view.ShowSides(m), YesBps: openapi.Int(m.YesBps),
	}
	if m.YesBps != nil {
		yes := protocol.Bps(m.GetYesBps())
		no := yes.Of(protocol.No)
		yesPrice, noPrice := yes.Probability(), no.Probability()
		out.YesPrice, out.NoPrice = &yesPrice, &noPrice
	}
	return out
}

func showNetworkCrowd(crowd *signalv1.GetCrowdResponse) openapi.NetworkCrowd {
	out := openapi.NetworkCrowd{TotalSignals: crowd.GetYes() + crowd.GetNo()}
	if out.TotalSignals > 0 {
		yes := view.SharePercent(crowd.GetYes(), out.TotalSignals)
		no := 100 - yes
		out.YesPercent, out.NoPercent = &yes, &no
	}
	return out
}

// Gaps handles GET /api/network/crowd, markets ordered by the difference between the share of YES calls and the price, the
// largest first. For an invalid market id, the list is empty.
func (s *Server) Gaps(c echo.Context) error {
	raw := c.QueryParam("market")
	id, unknown := protocol.ParseMarketID(raw)
	var r *cataloguev1.ListGapsResponse
	if raw == "" || unknown == nil {
		var err error
		r, err = s.Ledger.Catalogue.ListGaps(c.Request().Context(), &cataloguev1.ListGapsRequest{
			MarketId: string(id), Limit: int32(protocol.Limit(c.QueryParam("limit"), market.DefaultGaps, market.MaxGaps)),
		})
		if err != nil {
			return err
		}
	}
	shown := openapi.CrowdGaps{
		Markets:   make([]openapi.CrowdGaps_Markets, 0, len(r.GetGaps())),
		FetchedAt: protocol.Stamp(s.Now()),
	}
	for _, one := range r.GetGaps() {
		if g, ok := showGap(one); ok {
			shown.Markets = append(shown.Markets, g)
		}
	}
	slices.SortStableFunc(shown.Markets, func(a, b openapi.CrowdGaps_Markets) int {
		return cmp.Compare(max(b.GapBps, -b.GapBps), max(a.GapBps, -a.GapBps))
	})
	undated := shown
	undated.FetchedAt = ""
	return httpx.TaggedBy(c, shown, undated)
}

// EmptyGaps returns the response of Gaps while the ledger is unavailable. The list is empty.
func (s *Server) EmptyGaps(echo.Context) any {
	return openapi.CrowdGaps{Markets: []openapi.CrowdGaps_Markets{}, FetchedAt: protocol.Stamp(s.Now())}
}

// showGap returns the JSON model of a market with its gap. ok is false for a market without a price or without a call.
func showGap(g *cataloguev1.Gap) (gap openapi.CrowdGaps_Markets, ok bool) {
	m, total := g.GetMarket(), g.GetCrowdYes()+g.GetCrowdNo()
	if m.YesBps == nil || total == 0 {
		return openapi.CrowdGaps_Markets{}, false
	}
	yes, price := view.SharePercent(g.GetCrowdYes(), total), int64(m.GetYesBps())
	return openapi.CrowdGaps_Markets{
		MarketID: m.GetId(), Title: m.GetTitle(), TotalSignals: total, YesPercent: yes, MarketYesBps: price,
		GapBps: 100*yes - price,
	}, true
}
