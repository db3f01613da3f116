package edge

import (
	"math"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
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
		out.History = append(out.History, openapi.History_History{T: p.GetT(), P: p.GetP()})
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
		out.Points = append(out.Points, openapi.OldHistory_Points{TS: p.GetT() * 1000, P: math.Round(p.GetP()*10_000) / 100})
	}
	return tagged(c, out)
}

func emptyOldHistory(echo.Context) any {
	return openapi.OldHistory{Points: []openapi.OldHistory_Points{}}
}

// maxToken is longer than any token of a venue.
const maxToken = 80

// history returns the prices of a token, or else of a market. A token or an id of no known form has
// no prices.
func (s *server) history(c echo.Context, rawID, token string, i market.Interval) ([]*cataloguev1.HistoryPoint, error) {
	q := &cataloguev1.ListHistoryRequest{TokenId: token, Interval: string(i)}
	if token == "" {
		id, err := syntax.ParseMarketID(rawID)
		if err != nil {
			return nil, nil
		}
		q.MarketId = string(id)
	} else if len(token) > maxToken || !isDigits(token) {
		return nil, nil
	}
	r, err := s.Ledger.Catalogue.ListHistory(c.Request().Context(), q)
	return r.GetPoints(), err
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
