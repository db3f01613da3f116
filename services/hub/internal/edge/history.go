package edge

import (
	"math"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// marketHistory is GET /api/{venue_a}/market-history.
func (s *server) marketHistory(c echo.Context) error {
	token, raw := c.QueryParam("tokenId"), c.QueryParam("marketId")
	if token == "" && raw == "" {
		return market.ErrMissingID.With("field", "marketId")
	}
	interval := market.ParseInterval(c.QueryParam("interval"))
	points, err := s.history(c, raw, token, interval)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", cacheHistory[interval])
	out := openapi.History{History: make([]openapi.History_History, 0, len(points))}
	for _, p := range points {
		out.History = append(out.History, openapi.History_History(p))
	}
	return tagged(c, out)
}

func emptyHistory(echo.Context) any { return openapi.History{History: []openapi.History_History{}} }

// oldHistory is GET /api/{venue_a}/history, for charts of an older age.
func (s *server) oldHistory(c echo.Context) error {
	raw := c.QueryParam("market_id")
	if raw == "" {
		return market.ErrMissingID.With("field", "market_id")
	}
	points, err := s.history(c, raw, "", market.Hour)
	if err != nil {
		return err
	}
	out := openapi.OldHistory{Points: make([]openapi.OldHistory_Points, 0, len(points))}
	for _, p := range points {
		out.Points = append(out.Points, openapi.OldHistory_Points{TS: p.T * 1000, P: math.Round(p.P*10_000) / 100})
	}
	return tagged(c, out)
}

func emptyOldHistory(echo.Context) any {
	return openapi.OldHistory{Points: []openapi.OldHistory_Points{}}
}

// maxToken is longer than any token of a venue.
const maxToken = 80

// history reads by the token, or else by the market. What can be neither has no
// points, and nobody is asked.
func (s *server) history(c echo.Context, rawID, token string, i market.Interval) ([]market.Point, error) {
	ctx := c.Request().Context()
	if token != "" {
		if len(token) > maxToken || !isDigits(token) {
			return nil, nil
		}
		return s.Catalogue.History(ctx, "", token, i)
	}
	id, err := syntax.ParseMarketID(rawID)
	if err != nil {
		return nil, nil // an id of no known form is an unknown market
	}
	return s.Catalogue.History(ctx, id, "", i)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
