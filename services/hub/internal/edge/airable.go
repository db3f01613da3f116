package edge

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// airableQuery is the normal form of a request for airable markets.
type airableQuery struct {
	lane  syntax.Lane
	limit int
}

var airableParams = params("lane", "limit")

func readAirable(rawQuery string) airableQuery {
	v := page.Query(rawQuery, airableParams)
	return airableQuery{syntax.LaneFilter(v[0]), syntax.Limit(v[1], market.DefaultAirable, market.MaxAirable)}
}

func (q airableQuery) key() string { return joinKey(string(q.lane), keyOf(q.limit)) }

// airable is GET /api/markets/airable.
func (s *server) airable(c echo.Context) error {
	q := readAirable(c.Request().URL.RawQuery)
	return s.airing.Serve(c.Response(), c.Request(), q.key(), func(ctx context.Context) ([]byte, error) {
		list, err := s.Markets.Airable(ctx, q.lane, q.limit)
		if err != nil {
			return nil, err
		}
		return web.Marshal(showAirable(list, s.Now()))
	})
}

func (s *server) emptyAirable(echo.Context) any { return showAirable(nil, s.Now()) }

// aheadOfAir is how long before its end a market can no longer be put on the air.
const aheadOfAir = 10 * time.Minute

// showAirable leaves out what has no price or is about to end: the ledger chose a
// moment ago.
func showAirable(list []market.Market, now time.Time) openapi.Airable {
	out := openapi.Airable{Markets: make([]openapi.AirableMarket, 0, len(list)), UpdatedAt: syntax.Stamp(now)}
	for i := range list {
		m := &list[i]
		left := m.EndDate.Sub(now)
		if m.Yes == nil || m.Status != syntax.MarketOpen || left <= aheadOfAir {
			continue
		}
		out.Markets = append(out.Markets, openapi.AirableMarket{
			MarketID: string(m.ID), Title: m.Title, YesBps: int64(*m.Yes), Volume: m.VolumeUSD, EndDate: syntax.Stamp(m.EndDate),
			EndsInMs: left.Milliseconds(), Lane: string(m.Lane), Category: orNull(m.Category), Provider: string(m.Provider),
			Route: "/m/" + string(m.ID), Streams: int64(m.Streams), Takes: m.Takes,
		})
	}
	out.Count = int64(len(out.Markets))
	return out
}
