package reads

import (
	"math"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// ListMarkets handles GET /api/markets, the markets of all venues and native markets.
func (s *Server) ListMarkets(c echo.Context) error {
	q := &cataloguev1.FindMarketsRequest{
		Text: market.CutText(c.QueryParam("q")), Provider: string(market.ProviderFilter(c.QueryParam("provider"))),
		Lane: string(protocol.LaneFilter(c.QueryParam("lane"))), Status: market.StatusFilter(c.QueryParam("status")),
		Sort: market.ListOrder(c.QueryParam("sort")), Cursor: cursorParam(c),
		Limit: int32(protocol.Limit(c.QueryParam("limit"), market.DefaultRows, market.MaxRows)),
	}
	if at, ok := protocol.ParseStamp(c.QueryParam("closesAfter")); ok {
		q.EndAfter = ledgerclient.Timestamp(at)
	}
	if at, ok := protocol.ParseStamp(c.QueryParam("closesBefore")); ok {
		q.EndBefore = ledgerclient.Timestamp(at)
	}
	q.MinVolumeUsd, _ = parseAmount(c.QueryParam("minVolumeUsd"))
	if raw := c.QueryParam("ids"); raw != "" {
		ids, _ := protocol.ParseMarketIDs(raw)
		if len(ids) == 0 {
			return httpx.Tagged(c, showMarkets(nil))
		}
		q.Ids = view.List(ids, func(id protocol.MarketID) string { return string(id) })
	}
	page, err := s.Ledger.Catalogue.FindMarkets(c.Request().Context(), q)
	return view.Tagged(c, showMarkets(page), err)
}

// parseAmount parses a number that is not negative. ok is false for any other text.
func parseAmount(raw string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

func showMarkets(page *cataloguev1.FindMarketsResponse) openapi.MarketList {
	return openapi.MarketList{
		Markets: view.List(page.GetMarkets(), showMarket), Count: int64(len(page.GetMarkets())),
		NextCursor: httpx.OrNull(page.GetNextCursor()),
	}
}

func showMarket(m *marketv1.Market) openapi.ListedMarket {
	out := openapi.ListedMarket{
		ID: m.GetId(), Provider: m.GetProvider(), Title: m.GetTitle(), Sides: view.ShowSides(m), YesBps: openapi.Int(m.YesBps),
		YesPriceBps: openapi.Int(m.YesPriceBps), NoPriceBps: openapi.Int(m.NoPriceBps),
		PriceAt: ledgerclient.StampOrNull(m.GetPricedAt()), Status: m.GetStatus(), ClosesAt: ledgerclient.StampOrNull(m.GetEndDate()),
		Lane: m.GetLane(), VolumeUsd: m.VolumeUsd, Rated: m.GetRated(), Calls: m.GetSignals(),
	}
	if m.YesBps == nil {
		out.PriceAt = ledgerclient.StampOrNull(m.GetSidesPricedAt())
	}
	return out
}
