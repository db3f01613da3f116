package reads

import (
	"context"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

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

// marketsQuery is a normalized query for the list of all markets. If none is true, the query has ids and all are invalid.
type marketsQuery struct {
	*cataloguev1.FindMarketsRequest
	none bool
	key  string
}

// Key implements view.Query.
func (q marketsQuery) Key() string { return q.key }

// readMarkets parses the whole query: the ids alone may be longer than httpcache.Query permits.
func readMarkets(rawQuery string) marketsQuery {
	v, _ := url.ParseQuery(rawQuery) // invalid parameters are missing
	q := marketsQuery{FindMarketsRequest: &cataloguev1.FindMarketsRequest{
		Text: market.CutText(v.Get("q")), Provider: string(market.ProviderFilter(v.Get("provider"))),
		Lane: string(protocol.LaneFilter(v.Get("lane"))), Status: market.StatusFilter(v.Get("status")),
		Sort: market.ListOrder(v.Get("sort")), Cursor: request.Cursor(v.Get("cursor")),
		Limit: int32(protocol.Limit(v.Get("limit"), market.DefaultRows, market.MaxRows)),
	}}
	var after, before string
	if at, ok := protocol.ParseStamp(v.Get("closesAfter")); ok {
		q.EndAfter, after = ledgerclient.Timestamp(at), at.UTC().Format(time.RFC3339Nano)
	}
	if at, ok := protocol.ParseStamp(v.Get("closesBefore")); ok {
		q.EndBefore, before = ledgerclient.Timestamp(at), at.UTC().Format(time.RFC3339Nano)
	}
	q.MinVolumeUsd, _ = parseAmount(v.Get("minVolumeUsd"))
	if raw := v.Get("ids"); raw != "" {
		ids, _ := protocol.ParseMarketIDs(raw)
		q.Ids, q.none = view.List(ids, func(id protocol.MarketID) string { return string(id) }), len(ids) == 0
	}
	q.key = httpcache.JoinKey(q.Text, q.Provider, q.Lane, q.Status, q.Sort, q.Cursor, strconv.Itoa(int(q.Limit)), after, before,
		strconv.FormatFloat(q.MinVolumeUsd, 'g', -1, 64), strings.Join(q.Ids, ","), strconv.FormatBool(q.none))
	return q
}

// ListMarkets handles GET /api/markets, the markets of all venues and native markets.
func (s *Server) ListMarkets() view.Read[marketsQuery] {
	return view.Read[marketsQuery]{
		Pages: s.marketPages, Parse: readMarkets,
		Build: func(ctx context.Context, q marketsQuery) (view.Answer, error) {
			if q.none {
				return view.Answer{Value: showMarkets(nil)}, nil
			}
			page, err := s.Ledger.Catalogue.FindMarkets(ctx, q.FindMarketsRequest)
			return view.Answer{Value: showMarkets(page)}, err
		},
		Empty: func(marketsQuery) any { return showMarkets(nil) },
	}
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
