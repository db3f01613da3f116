package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
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
	out, err := s.findRows(c.Request().Context(), market.Query{
		Text: market.CutText(c.QueryParam("q")), Provider: syntax.Polymarket, Lane: syntax.LaneFilter(c.QueryParam("lane")),
		Closed: c.QueryParam("closed") == "true", Sort: sortParam(c),
		Limit:  syntax.Limit(c.QueryParam("limit"), market.DefaultRows, market.MaxRows),
		Cursor: readCursor(c.QueryParam("cursor")),
	})
	if err != nil {
		return err
	}
	return tagged(c, out)
}

func (s *server) findRows(ctx context.Context, q market.Query) (openapi.MarketRows, error) {
	page, err := s.Catalogue.Find(ctx, q)
	if err != nil {
		return openapi.MarketRows{}, err
	}
	out := openapi.MarketRows{
		Markets: make([]openapi.MarketRow, 0, len(page.Markets)), Count: int64(len(page.Markets)), NextCursor: orNull(page.NextCursor),
	}
	for i := range page.Markets {
		out.Markets = append(out.Markets, showRow(&page.Markets[i]))
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
	m, err := s.Markets.Market(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	return tagged(c, venueMarketJSON{venueRecordJSON{
		MarketRow: showRow(&m), Description: orNull(m.Description), EndDate: syntax.StampOrNull(m.EndDate),
		Status: string(m.Status), Resolved: m.Status == syntax.MarketResolved, ResolutionValue: m.ResolutionValue,
	}})
}

func showRow(m *market.Market) openapi.MarketRow {
	return openapi.MarketRow{
		ID: string(m.ID), Name: m.Title, YesPct: percent(m.Yes), Volume: m.VolumeUSD,
		Closed:   m.Status == syntax.MarketClosed || m.Status == syntax.MarketResolved,
		ClosesAt: syntax.StampOrNull(m.EndDate), Slug: orNull(m.Slug), Lane: string(m.Lane), Volume24H: m.Volume24h,
		Liquidity: m.Liquidity, ClobTokenID: orNull(m.ClobTokenID), EventKey: orNull(m.EventKey),
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
	page, err := s.Catalogue.Resolved(c.Request().Context(), syntax.Polymarket, limit, cursorParam(c))
	if err != nil {
		return err
	}
	out := openapi.ResolvedRows{
		Markets: make([]openapi.ResolvedRow, 0, len(page.Markets)), Count: int64(len(page.Markets)),
		NextCursor: orNull(page.NextCursor),
	}
	for _, m := range page.Markets {
		out.Markets = append(out.Markets, openapi.ResolvedRow{
			ID: string(m.ID), Name: m.Title, Outcome: m.Outcome, ResolvedAt: syntax.Stamp(m.ResolvedAt),
			ClosePrice: openapi.Int(m.ClosePrice), Volume: m.Volume, Signals: m.Signals,
		})
	}
	return tagged(c, out)
}

func emptyResolved(echo.Context) any { return openapi.ResolvedRows{Markets: []openapi.ResolvedRow{}} }
