package reads

import (
	"math"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// MarketHistory handles GET /api/{venue_a}/market-history, the prices of a market or token over an interval. Error:
// missing_market_id if the query has neither a market id nor a token id.
func (s *Server) MarketHistory(c echo.Context) error {
	token, raw := c.QueryParam("tokenId"), c.QueryParam("marketId")
	if token == "" && raw == "" {
		return market.ErrMissingID.With("field", "marketId")
	}
	interval := protocol.ParseInterval(c.QueryParam("interval"))
	points, err := s.history(c, raw, token, interval)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", CacheHistory[interval])
	show := func(p *cataloguev1.HistoryPoint) openapi.History_History {
		return openapi.History_History{T: p.GetT(), P: p.GetP()}
	}
	return httpx.Tagged(c, openapi.History{History: view.List(points, show)})
}

// OldHistory handles GET /api/{venue_a}/history, an older form of MarketHistory with one point for each minute of the last hour.
// Times are in milliseconds, and prices are in percent. Error: missing_market_id.
func (s *Server) OldHistory(c echo.Context) error {
	raw := c.QueryParam("market_id")
	if raw == "" {
		return market.ErrMissingID.With("field", "market_id")
	}
	points, err := s.history(c, raw, "", protocol.IntervalHour)
	show := func(p *cataloguev1.HistoryPoint) openapi.OldHistory_Points {
		return openapi.OldHistory_Points{TS: p.GetT() * 1000, P: math.Round(p.GetP()*10_000) / 100}
	}
	return view.Tagged(c, openapi.OldHistory{Points: view.List(eachMinute(points), show)}, err)
}

// minutes is the number of points in an answer of OldHistory, and minute is the time between two of them in seconds.
const (
	minutes = 60
	minute  = 60
)

// eachMinute returns one point for each minute from the first to the last point, and at most the last 60. Its time is the start
// of the minute. Its price is that of the last point in the minute, or in the minutes before it. The points must be sorted.
func eachMinute(points []*cataloguev1.HistoryPoint) []*cataloguev1.HistoryPoint {
	if len(points) == 0 {
		return nil
	}
	last := points[len(points)-1].GetT() / minute * minute
	start := max(points[0].GetT()/minute*minute, last-(minutes-1)*minute)
	out := make([]*cataloguev1.HistoryPoint, 0, minutes)
	next := 0
	for t := start; t <= last; t += minute {
		for next < len(points) && points[next].GetT() < t+minute {
			next++
		}
		out = append(out, &cataloguev1.HistoryPoint{T: t, P: points[next-1].GetP()})
	}
	return out
}

// maxToken is the maximum length of a token id of a venue, in digits.
const maxToken = 80

// history returns the prices of a token over an interval, or of a market if token is empty. An invalid market id or token has no
// prices and causes no error.
func (s *Server) history(c echo.Context, rawID, token string, i protocol.Interval) ([]*cataloguev1.HistoryPoint, error) {
	q := &cataloguev1.ListHistoryRequest{TokenId: token, Interval: string(i)}
	if token == "" {
		id, err := protocol.ParseMarketID(rawID)
		if err != nil {
			return nil, nil
		}
		q.MarketId = string(id)
	} else if len(token) > maxToken || strings.Trim(token, "0123456789") != "" {
		return nil, nil
	}
	r, err := s.Ledger.Catalogue.ListHistory(c.Request().Context(), q)
	return r.GetPoints(), err
}

// CacheHistory maps the interval of a price history to the Cache-Control value of the response.
var CacheHistory = map[protocol.Interval]string{
	protocol.IntervalHour: "public, s-maxage=30",
	protocol.IntervalDay:  "public, s-maxage=60",
	protocol.IntervalWeek: "public, s-maxage=300",
	protocol.IntervalAll:  "public, s-maxage=900",
}
