package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type rowsJSON struct {
	Markets    []rowJSON `json:"markets"`
	Count      int       `json:"count"`
	NextCursor *string   `json:"next_cursor"`
}

type rowJSON struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	YesPct      *float64 `json:"yesPct"`
	Volume      *float64 `json:"volume"`
	Closed      bool     `json:"closed"`
	ClosesAt    *string  `json:"closesAt"`
	Slug        *string  `json:"slug"`
	Lane        string   `json:"lane"`
	Volume24h   *float64 `json:"volume24h"`
	Liquidity   *float64 `json:"liquidity"`
	ClobTokenID *string  `json:"clobTokenId"`
	EventKey    *string  `json:"eventKey"`
}

type venueMarketJSON struct {
	Market venueRecordJSON `json:"market"`
}

type venueRecordJSON struct {
	rowJSON
	Description     *string `json:"description"`
	EndDate         *string `json:"endDate"`
	Status          string  `json:"status"`
	Resolved        bool    `json:"resolved"`
	ResolutionValue *string `json:"resolutionValue"`
}

type resolvedJSON struct {
	Markets    []resolvedRowJSON `json:"markets"`
	Count      int               `json:"count"`
	NextCursor *string           `json:"next_cursor"`
}

type resolvedRowJSON struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Outcome    string   `json:"outcome"`
	ResolvedAt string   `json:"resolvedAt"`
	ClosePrice *int32   `json:"closePrice"`
	Volume     *float64 `json:"volume"`
	Signals    int64    `json:"signals"`
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

func (s *server) findRows(ctx context.Context, q market.Query) (rowsJSON, error) {
	page, err := s.catalogue.Find(ctx, q)
	if err != nil {
		return rowsJSON{}, err
	}
	out := rowsJSON{Markets: make([]rowJSON, 0, len(page.Markets)), Count: len(page.Markets), NextCursor: orNull(page.NextCursor)}
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

func emptyRows(echo.Context) any { return rowsJSON{Markets: []rowJSON{}} }

// venueMarket is GET /api/{venue_a}/market.
func (s *server) venueMarket(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.QueryParam("id"))
	if err != nil || id.Provider() != syntax.Polymarket {
		return market.ErrUnknown
	}
	m, err := s.markets.Market(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	return tagged(c, venueMarketJSON{venueRecordJSON{
		rowJSON: showRow(&m), Description: orNull(m.Description), EndDate: syntax.StampOrNull(m.EndDate),
		Status: string(m.Status), Resolved: m.Status == syntax.MarketResolved, ResolutionValue: m.ResolutionValue,
	}})
}

func showRow(m *market.Market) rowJSON {
	return rowJSON{
		ID: string(m.ID), Name: m.Title, YesPct: percent(m.Yes), Volume: m.VolumeUSD,
		Closed:   m.Status == syntax.MarketClosed || m.Status == syntax.MarketResolved,
		ClosesAt: syntax.StampOrNull(m.EndDate), Slug: orNull(m.Slug), Lane: string(m.Lane), Volume24h: m.Volume24h,
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
	page, err := s.catalogue.Resolved(c.Request().Context(), syntax.Polymarket, limit, cursorParam(c))
	if err != nil {
		return err
	}
	out := resolvedJSON{
		Markets: make([]resolvedRowJSON, 0, len(page.Markets)), Count: len(page.Markets), NextCursor: orNull(page.NextCursor),
	}
	for _, m := range page.Markets {
		out.Markets = append(out.Markets, resolvedRowJSON{
			ID: string(m.ID), Name: m.Title, Outcome: m.Outcome, ResolvedAt: syntax.Stamp(m.ResolvedAt),
			ClosePrice: m.ClosePrice, Volume: m.Volume, Signals: m.Signals,
		})
	}
	return tagged(c, out)
}

func emptyResolved(echo.Context) any { return resolvedJSON{Markets: []resolvedRowJSON{}} }
