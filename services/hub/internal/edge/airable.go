package edge

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
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
		r, err := s.Ledger.Markets.ListAirable(ctx, &marketv1.ListAirableRequest{Lane: string(q.lane), Limit: int32(q.limit)})
		if err != nil {
			return nil, err
		}
		return web.Marshal(showAirable(r.GetMarkets(), s.Now()))
	})
}

func (s *server) emptyAirable(echo.Context) any { return showAirable(nil, s.Now()) }

// aheadOfAir is how long before its end a market can no longer be put on the air.
const aheadOfAir = 10 * time.Minute

// showAirable leaves out what has no price or is about to end: the ledger chose a
// moment ago.
func showAirable(list []*marketv1.Market, now time.Time) openapi.Airable {
	out := openapi.Airable{Markets: make([]openapi.AirableMarket, 0, len(list)), UpdatedAt: syntax.Stamp(now)}
	for _, m := range list {
		left := ledgerclient.Time(m.GetEndDate()).Sub(now)
		if m.YesBps == nil || m.GetStatus() != string(syntax.MarketOpen) || left <= aheadOfAir {
			continue
		}
		out.Markets = append(out.Markets, openapi.AirableMarket{
			MarketID: m.GetId(), Title: m.GetTitle(), YesBps: int64(m.GetYesBps()), Volume: m.VolumeUsd,
			EndDate: ledgerclient.Stamp(m.GetEndDate()), EndsInMs: left.Milliseconds(), Lane: m.GetLane(),
			Category: orNull(m.GetCategory()), Provider: m.GetProvider(), Route: "/m/" + m.GetId(), Streams: int64(m.GetStreams()),
			Takes: m.GetTakes(),
		})
	}
	out.Count = int64(len(out.Markets))
	return out
}
