package reads

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// airableQuery is a normalized query for markets that can be aired. An empty lane means all lanes.
type airableQuery struct {
	lane  protocol.Lane
	limit int
}

var airableParams = httpcache.Params("lane", "limit")

func readAirable(rawQuery string) airableQuery {
	v := httpcache.Query(rawQuery, airableParams)
	return airableQuery{protocol.LaneFilter(v[0]), protocol.Limit(v[1], market.DefaultAirable, market.MaxAirable)}
}

// Key implements view.Query.
func (q airableQuery) Key() string { return httpcache.JoinKey(string(q.lane), strconv.Itoa(q.limit)) }

// Airable handles GET /api/markets/airable, the markets that can be aired in the programme.
func (s *Server) Airable() view.Read[airableQuery] {
	return view.Read[airableQuery]{
		Pages: s.airingPages, Parse: readAirable,
		Build: func(ctx context.Context, q airableQuery) (view.Answer, error) {
			r, err := s.Ledger.Markets.ListAirable(ctx, &marketv1.ListAirableRequest{Lane: string(q.lane), Limit: int32(q.limit)})
			return view.Answer{Value: view.ShowAirable(r.GetMarkets(), s.Now())}, err
		},
		Empty: func(airableQuery) any { return view.ShowAirable(nil, s.Now()) },
	}
}

// FindMarkets handles GET /api/{venue_a}/markets, the search for markets of the primary venue.
func (s *Server) FindMarkets(c echo.Context) error {
	out, err := s.findRows(c.Request().Context(), &cataloguev1.FindMarketsRequest{
		Text: market.CutText(c.QueryParam("q")), Provider: string(protocol.Polymarket),
		Lane:   string(protocol.LaneFilter(c.QueryParam("lane"))),
		Closed: c.QueryParam("closed") == "true", Sort: sortParam(c),
		Limit:  int32(protocol.Limit(c.QueryParam("limit"), market.DefaultRows, market.MaxRows)),
		Cursor: cursorParam(c),
	})
	return view.Tagged(c, out, err)
}

func (s *Server) findRows(ctx context.Context, q *cataloguev1.FindMarketsRequest) (openapi.MarketRows, error) {
	page, err := s.Ledger.Catalogue.FindMarkets(ctx, q)
	return openapi.MarketRows{
		Markets: view.List(page.GetMarkets(), showRow), Count: int64(len(page.GetMarkets())),
		NextCursor: httpx.OrNull(page.GetNextCursor()),
	}, err
}

// sortParam returns the query parameter "sort". An unknown value becomes the default, "volume".
func sortParam(c echo.Context) string {
	switch raw := c.QueryParam("sort"); raw {
	case "volume24h", "endDate":
		return raw
	}
	return "volume"
}

// VenueMarket handles GET /api/{venue_a}/market, one market of the primary venue. Error: not_found for an unknown market or a
// market of another venue.
func (s *Server) VenueMarket(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.QueryParam("id"))
	if err != nil || id.Provider() != protocol.Polymarket {
		return market.ErrUnknown
	}
	m, err := s.Ledger.Market(c.Request().Context(), id)
	if err != nil {
		return market.ReadError(err)
	}
	row := showRow(m)
	return httpx.Tagged(c, openapi.VenueMarket{Market: openapi.VenueMarket_Market{
		ID: row.ID, Name: row.Name, YesPct: row.YesPct, YesBps: row.YesBps, Volume: row.Volume, Closed: row.Closed, ClosesAt: row.ClosesAt,
		Slug: row.Slug, Lane: row.Lane, Volume24H: row.Volume24H, Liquidity: row.Liquidity, ClobTokenID: row.ClobTokenID,
		EventKey: row.EventKey, Description: httpx.OrNull(m.GetDescription()), EndDate: row.ClosesAt,
		Status: m.GetStatus(), Resolved: m.GetStatus() == string(protocol.MarketResolved), ResolutionValue: m.ResolutionValue, Sides: row.Sides,
	}})
}

func showRow(m *marketv1.Market) openapi.MarketRow {
	status := protocol.MarketStatus(m.GetStatus())
	return openapi.MarketRow{
		ID: m.GetId(), Name: m.GetTitle(), YesPct: view.Percent(m.YesBps), YesBps: openapi.Int(m.YesBps), Volume: m.VolumeUsd,
		Closed:   status == protocol.MarketClosed || status == protocol.MarketResolved,
		ClosesAt: ledgerclient.StampOrNull(m.GetEndDate()), Slug: httpx.OrNull(m.GetSlug()), Lane: m.GetLane(),
		Volume24H: m.Volume24H,
		Liquidity: m.Liquidity, ClobTokenID: httpx.OrNull(m.GetClobTokenId()), EventKey: httpx.OrNull(m.GetEventKey()),
		Sides: view.ShowSides(m),
	}
}

// Resolved handles GET /api/{venue_a}/resolved, the resolved markets of the primary venue.
func (s *Server) Resolved(c echo.Context) error {
	limit := protocol.Limit(c.QueryParam("limit"), market.DefaultResolved, market.MaxRows)
	page, err := s.Ledger.Catalogue.ListResolved(c.Request().Context(), &cataloguev1.ListResolvedRequest{
		Provider: string(protocol.Polymarket), Limit: int32(limit), Cursor: cursorParam(c),
	})
	show := func(m *cataloguev1.ResolvedMarket) openapi.ResolvedRow {
		return openapi.ResolvedRow{
			ID: m.GetId(), Name: m.GetTitle(), Outcome: m.GetOutcome(), ResolvedAt: ledgerclient.Stamp(m.GetResolvedAt()),
			ClosePrice: openapi.Int(m.ClosePriceBps), Volume: m.Volume, Signals: m.GetSignals(),
		}
	}
	return view.Tagged(c, openapi.ResolvedRows{
		Markets: view.List(page.GetMarkets(), show), Count: int64(len(page.GetMarkets())),
		NextCursor: httpx.OrNull(page.GetNextCursor()),
	}, err)
}

// cursorParam returns the query parameter "cursor", or "" if it is not a valid cursor.
func cursorParam(c echo.Context) string { return request.Cursor(c.QueryParam("cursor")) }
