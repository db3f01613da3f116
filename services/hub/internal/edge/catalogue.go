package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type venueMarketJSON struct {
	Market venueRecordJSON `json:"market"`
}

type venueRecordJSON struct {
	openapi.MarketRow
	Description     *string `json:"description"`
	EndDate         *string `json:"endDate"`
	Status          string  `json:"status"`
	Resolved        bool    `json:"resolved"`
	ResolutionValue *string `json:"resolutionValue"`
}

// findMarkets is GET /api/{venue_a}/markets.
func (s *server) findMarkets(c echo.Context) error {
	out, err := s.findRows(c.Request().Context(), &cataloguev1.FindMarketsRequest{
		Text: market.CutText(c.QueryParam("q")), Provider: string(syntax.Polymarket),
		Lane:   string(syntax.LaneFilter(c.QueryParam("lane"))),
		Closed: c.QueryParam("closed") == "true", Sort: sortParam(c),
		Limit:  int32(syntax.Limit(c.QueryParam("limit"), market.DefaultRows, market.MaxRows)),
		Cursor: readCursor(c.QueryParam("cursor")),
	})
	if err != nil {
		return err
	}
	return tagged(c, out)
}

func (s *server) findRows(ctx context.Context, q *cataloguev1.FindMarketsRequest) (openapi.MarketRows, error) {
	page, err := s.Ledger.Catalogue.FindMarkets(ctx, q)
	if err != nil {
		return openapi.MarketRows{}, err
	}
	out := openapi.MarketRows{
		Markets: make([]openapi.MarketRow, 0, len(page.GetMarkets())), Count: int64(len(page.GetMarkets())),
		NextCursor: orNull(page.GetNextCursor()),
	}
	for _, m := range page.GetMarkets() {
		out.Markets = append(out.Markets, showRow(m))
	}
	return out, nil
}

// sortParam is the sort in the query; what no ledger would take is the default.
func sortParam(c echo.Context) string {
	switch raw := c.QueryParam("sort"); raw {
	case "volume24h", "endDate":
		return raw
	}
	return "volume"
}

func emptyRows(echo.Context) any { return openapi.MarketRows{Markets: []openapi.MarketRow{}} }

// venueMarket is GET /api/{venue_a}/market.
func (s *server) venueMarket(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.QueryParam("id"))
	if err != nil || id.Provider() != syntax.Polymarket {
		return market.ErrUnknown
	}
	m, err := s.readMarket(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	return tagged(c, venueMarketJSON{venueRecordJSON{
		MarketRow: showRow(m), Description: orNull(m.GetDescription()), EndDate: ledgerclient.StampOrNull(m.GetEndDate()),
		Status: m.GetStatus(), Resolved: m.GetStatus() == string(syntax.MarketResolved), ResolutionValue: m.ResolutionValue,
	}})
}

func showRow(m *marketv1.Market) openapi.MarketRow {
	status := syntax.MarketStatus(m.GetStatus())
	return openapi.MarketRow{
		ID: m.GetId(), Name: m.GetTitle(), YesPct: percent(m.YesBps), Volume: m.VolumeUsd,
		Closed:   status == syntax.MarketClosed || status == syntax.MarketResolved,
		ClosesAt: ledgerclient.StampOrNull(m.GetEndDate()), Slug: orNull(m.GetSlug()), Lane: m.GetLane(), Volume24H: m.Volume24H,
		Liquidity: m.Liquidity, ClobTokenID: orNull(m.GetClobTokenId()), EventKey: orNull(m.GetEventKey()),
	}
}

// percent is a price in bps as a number from 0 to 100.
func percent(bps *int32) *float64 {
	if bps == nil {
		return nil
	}
	n := syntax.Bps(*bps).Percent()
	return &n
}

// resolved is GET /api/{venue_a}/resolved.
func (s *server) resolved(c echo.Context) error {
	limit := syntax.Limit(c.QueryParam("limit"), market.DefaultResolved, market.MaxRows)
	page, err := s.Ledger.Catalogue.ListResolved(c.Request().Context(), &cataloguev1.ListResolvedRequest{
		Provider: string(syntax.Polymarket), Limit: int32(limit), Cursor: cursorParam(c),
	})
	if err != nil {
		return err
	}
	out := openapi.ResolvedRows{
		Markets: make([]openapi.ResolvedRow, 0, len(page.GetMarkets())), Count: int64(len(page.GetMarkets())),
		NextCursor: orNull(page.GetNextCursor()),
	}
	for _, m := range page.GetMarkets() {
		out.Markets = append(out.Markets, openapi.ResolvedRow{
			ID: m.GetId(), Name: m.GetTitle(), Outcome: m.GetOutcome(), ResolvedAt: ledgerclient.Stamp(m.GetResolvedAt()),
			ClosePrice: openapi.Int(m.ClosePriceBps), Volume: m.Volume, Signals: m.GetSignals(),
		})
	}
	return tagged(c, out)
}

func emptyResolved(echo.Context) any { return openapi.ResolvedRows{Markets: []openapi.ResolvedRow{}} }
