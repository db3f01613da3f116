package grpcapi

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// Catalogue implements the gRPC service CatalogueReadService.
type Catalogue struct {
	cataloguev1.UnimplementedCatalogueReadServiceServer
	Search    *search.Service
	Oracle    *attention.Service
	Histories *history.Service
	Markets   *market.Service
}

// FindMarkets returns a page of the markets that match a search, with their current state. A market that has left the requested
// status since it was indexed is omitted. Error: db_unavailable.
func (f *Catalogue) FindMarkets(ctx context.Context, r *cataloguev1.FindMarketsRequest) (*cataloguev1.FindMarketsResponse, error) {
	status := search.Status(r.GetStatus())
	if status == "" && r.GetClosed() {
		status = search.StatusEnded
	}
	given := r.GetIds()
	ids, next, err := f.Search.Find(ctx, search.Query{
		Text: r.GetText(), Provider: protocol.Provider(r.GetProvider()), Lane: protocol.LaneFilter(r.GetLane()), Status: status,
		Filter: search.Filter{
			EndAfter: timeOrZero(r.GetEndAfter()), EndBefore: timeOrZero(r.GetEndBefore()), MinVolume: r.GetMinVolumeUsd(),
			IDs: wordsOf[protocol.MarketID](given[:min(len(given), search.Most)]),
		},
		Sort: search.ParseSort(r.GetSort()), Limit: int(r.GetLimit()), Cursor: r.GetCursor(),
	})
	if err != nil {
		return nil, err
	}
	list, err := withMarkets(ctx, f.Markets, ids, func(id protocol.MarketID) protocol.MarketID { return id },
		func(_ protocol.MarketID, m *marketv1.Market) *marketv1.Market { return m })
	switch status {
	case search.StatusOpen, search.StatusClosed, search.StatusResolved:
		list = slices.DeleteFunc(list, func(m *marketv1.Market) bool { return m.GetStatus() != string(status) })
	}
	return &cataloguev1.FindMarketsResponse{Markets: list, NextCursor: next}, err
}

// withMarkets calls the function convert with each entry of list and the market of the entry, and returns the results in
// order. The function id returns the market id of an entry. Entries whose market does not exist are omitted.
func withMarkets[T, M any](
	ctx context.Context, markets *market.Service, list []T, id func(T) protocol.MarketID, convert func(T, *marketv1.Market) M,
) ([]M, error) {
	found, err := markets.ListMarkets(ctx, listOf(list, func(e T) string { return string(id(e)) }))
	known := make(map[protocol.MarketID]*marketv1.Market, len(found))
	for i := range found {
		known[found[i].ID] = marketTo(found[i])
	}
	out := make([]M, 0, len(list))
	for _, e := range list {
		if m := known[id(e)]; m != nil {
			out = append(out, convert(e, m))
		}
	}
	return out, err
}

// ListResolved returns a page of resolved markets. Error: db_unavailable.
func (f *Catalogue) ListResolved(ctx context.Context, r *cataloguev1.ListResolvedRequest) (*cataloguev1.ListResolvedResponse, error) {
	rows, next, err := f.Search.Resolved(ctx, protocol.Provider(r.GetProvider()), int(r.GetLimit()), r.GetCursor())
	return &cataloguev1.ListResolvedResponse{NextCursor: next, Markets: listOf(rows, resolvedTo)}, err
}

func resolvedTo(r search.Resolved) *cataloguev1.ResolvedMarket {
	return &cataloguev1.ResolvedMarket{
		Id: string(r.ID), Title: r.Title, Outcome: string(r.Verdict), ResolvedAt: timestamppb.New(r.ResolvedAt),
		ClosePriceBps: int32Of(r.ClosePrice), Volume: r.Volume, Signals: r.Signals,
	}
}

// resolving24h is the mode of the heatmap in which each market that ends within 24 hours has a separate tile.
const resolving24h = "resolving24h"

// ListTiles returns the tiles of the heatmap, which shows markets of the primary venue. Error: db_unavailable.
func (f *Catalogue) ListTiles(ctx context.Context, r *cataloguev1.ListTilesRequest) (*cataloguev1.ListTilesResponse, error) {
	single := r.GetMode() == resolving24h
	pinned := r.GetPinned()
	ids := wordsOf[protocol.MarketID](pinned[:min(len(pinned), attention.MostTiles)])
	tiles, at, err := f.Oracle.Tiles(ctx, single, ids)
	show := func(t attention.Tile) *cataloguev1.Tile { return tileTo(&t, single) }
	return &cataloguev1.ListTilesResponse{Tiles: listOf(tiles, show), UpdatedAt: timestamppb.New(at)}, err
}

func tileTo(t *attention.Tile, single bool) *cataloguev1.Tile {
	return &cataloguev1.Tile{
		Id: t.Key(single), Label: t.Label(single), MarketId: string(t.ID), Title: t.Title, Lane: string(t.Lane),
		MarketCount: int32(t.Markets), Volume24H: t.Total24h, YesBps: int32Of(t.Yes), Move24HBps: int32Of(t.Move),
		ImageUrl: t.ImageURL, EndsAt: stampOf(t.EndDate), Attention: int32(t.Attention),
	}
}

// ListHistory returns the price of YES over time, for a market or a token of a venue. The list is empty if the market or the
// token is unknown. Errors: venue_unavailable, db_unavailable.
func (f *Catalogue) ListHistory(ctx context.Context, r *cataloguev1.ListHistoryRequest) (*cataloguev1.ListHistoryResponse, error) {
	interval := protocol.ParseInterval(r.GetInterval())
	var points []history.Point
	var err error
	if token := r.GetTokenId(); token != "" {
		points, err = f.Histories.ByToken(ctx, token, interval)
	} else if id, bad := protocol.ParseMarketID(r.GetMarketId()); bad == nil {
		points, err = f.Histories.ByMarket(ctx, id, interval)
	}
	show := func(p history.Point) *cataloguev1.HistoryPoint { return &cataloguev1.HistoryPoint{T: p.T, P: p.P} }
	return &cataloguev1.ListHistoryResponse{Points: listOf(points, show)}, err
}

// ListTrends returns the prices of the last seven days of the requested markets that have one. Error: db_unavailable.
func (f *Catalogue) ListTrends(ctx context.Context, r *cataloguev1.ListTrendsRequest) (*cataloguev1.ListTrendsResponse, error) {
	trends, err := f.Markets.ListTrends(ctx, r.GetMarketIds())
	show := func(t market.Trend) *cataloguev1.Trend {
		return &cataloguev1.Trend{MarketId: t.ID, YesBps: listOf(t.Prices, func(p protocol.Bps) int32 { return int32(p) })}
	}
	return &cataloguev1.ListTrendsResponse{Trends: listOf(trends, show)}, err
}
