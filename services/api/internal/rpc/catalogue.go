package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// MarketFinder reads one market, from its venue where it is not held yet, or many
// at once in any order.
type MarketFinder interface {
	Get(ctx context.Context, id syntax.MarketID) (market.Market, error)
	ListMarkets(ctx context.Context, ids []string) ([]market.Market, error)
}

// Catalogue serves CatalogueReadService.
type Catalogue struct {
	cataloguev1.UnimplementedCatalogueReadServiceServer
	search    *search.Service
	oracle    *oracle.Service
	histories *history.Service
	markets   MarketFinder
}

// NewCatalogue wires the face.
func NewCatalogue(s *search.Service, o *oracle.Service, h *history.Service, markets MarketFinder) *Catalogue {
	return &Catalogue{search: s, oracle: o, histories: h, markets: markets}
}

// FindMarkets searches, and shows what it found as it stands now. Fault:
// db_unavailable.
func (f *Catalogue) FindMarkets(ctx context.Context, r *cataloguev1.FindMarketsRequest) (*cataloguev1.FindMarketsResponse, error) {
	ids, next, err := f.search.Find(ctx, search.Query{
		Text: r.GetText(), Provider: syntax.Provider(r.GetProvider()), Lane: syntax.LaneFilter(r.GetLane()), Closed: r.GetClosed(),
		Sort: search.ParseSort(r.GetSort()), Limit: int(r.GetLimit()), Cursor: r.GetCursor(),
	})
	if err != nil {
		return nil, err
	}
	list, err := f.inOrder(ctx, ids)
	if err != nil {
		return nil, err
	}
	return &cataloguev1.FindMarketsResponse{Markets: marketsTo(list), NextCursor: next}, nil
}

// inOrder reads markets in the order of their ids.
func (f *Catalogue) inOrder(ctx context.Context, ids []syntax.MarketID) ([]market.Market, error) {
	plain := make([]string, len(ids))
	for i, id := range ids {
		plain[i] = string(id)
	}
	list, err := f.markets.ListMarkets(ctx, plain)
	if err != nil {
		return nil, err
	}
	known := make(map[syntax.MarketID]*market.Market, len(list))
	for i := range list {
		known[list[i].ID] = &list[i]
	}
	out := make([]market.Market, 0, len(ids))
	for _, id := range ids {
		if m := known[id]; m != nil {
			out = append(out, *m)
		}
	}
	return out, nil
}

// ListResolved lists outcomes. Fault: db_unavailable.
func (f *Catalogue) ListResolved(ctx context.Context, r *cataloguev1.ListResolvedRequest) (*cataloguev1.ListResolvedResponse, error) {
	rows, next, err := f.search.Resolved(ctx, syntax.Provider(r.GetProvider()), int(r.GetLimit()), r.GetCursor())
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.ListResolvedResponse{NextCursor: next, Markets: make([]*cataloguev1.ResolvedMarket, len(rows))}
	for i := range rows {
		row := &rows[i]
		out.Markets[i] = &cataloguev1.ResolvedMarket{
			Id: string(row.ID), Title: row.Title, Outcome: string(row.Verdict), ResolvedAt: timestamppb.New(row.ResolvedAt),
			ClosePriceBps: int32Of(row.ClosePrice), Volume: row.Volume, Signals: row.Signals,
		}
	}
	return out, nil
}

// resolving24h is the mode of a heatmap with a tile for each market that ends
// within a day.
const resolving24h = "resolving24h"

// ListTiles is the heatmap of the primary venue. Fault: db_unavailable.
func (f *Catalogue) ListTiles(ctx context.Context, r *cataloguev1.ListTilesRequest) (*cataloguev1.ListTilesResponse, error) {
	single := r.GetMode() == resolving24h
	pinned := r.GetPinned()
	ids := make([]syntax.MarketID, min(len(pinned), oracle.MostTiles))
	for i := range ids {
		ids[i] = syntax.MarketID(pinned[i])
	}
	tiles, at, err := f.oracle.Tiles(ctx, single, ids)
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.ListTilesResponse{Tiles: make([]*cataloguev1.Tile, len(tiles)), UpdatedAt: timestamppb.New(at)}
	for i := range tiles {
		t := &tiles[i]
		out.Tiles[i] = &cataloguev1.Tile{
			Id: t.Key(single), Label: t.Label(single), MarketId: string(t.ID), Title: t.Title, Lane: string(t.Lane),
			MarketCount: int32(t.Markets), Volume24H: t.Total24h, YesBps: int32Of(t.Yes), Move24HBps: int32Of(t.Move),
			ImageUrl: t.ImageURL, EndsAt: stampOf(t.EndDate), Attention: int32(t.Attention),
		}
	}
	return out, nil
}

// ListHistory is the price of YES over time; an unknown market or token has no
// points. Faults: venue_unavailable, db_unavailable.
func (f *Catalogue) ListHistory(ctx context.Context, r *cataloguev1.ListHistoryRequest) (*cataloguev1.ListHistoryResponse, error) {
	interval := history.ParseInterval(r.GetInterval())
	var points []history.Point
	var err error
	if token := r.GetTokenId(); token != "" {
		points, err = f.histories.ByToken(ctx, token, interval)
	} else if id, bad := syntax.ParseMarketID(r.GetMarketId()); bad == nil {
		points, err = f.histories.ByMarket(ctx, id, interval)
	}
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.ListHistoryResponse{Points: make([]*cataloguev1.HistoryPoint, len(points))}
	for i, p := range points {
		out.Points[i] = &cataloguev1.HistoryPoint{T: p.T, P: p.P}
	}
	return out, nil
}
