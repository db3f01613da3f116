package rpc

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// MarketReader reads markets.
type MarketReader interface {
	Get(ctx context.Context, id syntax.MarketID) (market.Market, error)
	Airable(ctx context.Context, limit int, lane syntax.Lane) ([]market.Market, error)
	ListMarkets(ctx context.Context, ids []string) ([]market.Market, error)
	ListPrices(ctx context.Context, id syntax.MarketID, from time.Time) ([]market.Point, error)
	Snapshot(ctx context.Context, id syntax.MarketID) (*syntax.Bps, error)
}

// MarketCreator creates native markets and sets which markets are rated.
type MarketCreator interface {
	CreateNative(ctx context.Context, d market.Draft) (market.Market, error)
	SetRated(ctx context.Context, id syntax.MarketID, rated bool, reason string) (market.Market, error)
}

// Markets serves MarketService and MarketReadService.
type Markets struct {
	marketv1.UnimplementedMarketServiceServer
	marketv1.UnimplementedMarketReadServiceServer
	reader  MarketReader
	creator MarketCreator
	counted func(marketID string) int
}

// NewMarkets wires the face.
func NewMarkets(reader MarketReader, creator MarketCreator) *Markets {
	return &Markets{reader: reader, creator: creator, counted: func(string) int { return 0 }}
}

// Watch sets who counts the viewers of a market; lists ask it and wait for nobody.
func (f *Markets) Watch(counted func(marketID string) int) { f.counted = counted }

// watched puts the viewers into a list.
func (f *Markets) watched(list []*marketv1.Market) []*marketv1.Market {
	for _, m := range list {
		m.Viewers = int32(min(f.counted(m.GetId()), math.MaxInt32))
	}
	return list
}

// CreateNative makes a native market. Faults: invalid_<member>, forbidden,
// rate_limited, db_unavailable.
func (f *Markets) CreateNative(ctx context.Context, r *marketv1.CreateNativeRequest) (*marketv1.CreateNativeResponse, error) {
	d := market.Draft{
		Question: r.GetQuestion(), Description: r.GetDescription(), Lane: syntax.Lane(r.GetLane()),
		ResolutionSource: r.ResolutionSource, InitialYes: syntax.Bps(r.GetInitialYesBps()), CreatedBy: r.GetCreatedBy(),
		MessageID: r.GetMessageId(),
	}
	if r.CutoffAt != nil {
		d.CutoffAt = r.CutoffAt.AsTime()
	}
	if r.ResolvesBy != nil {
		t := r.ResolvesBy.AsTime()
		d.ResolvesBy = &t
	}
	m, err := f.creator.CreateNative(ctx, d)
	if err != nil {
		return nil, err
	}
	return &marketv1.CreateNativeResponse{Market: marketTo(m)}, nil
}

// SetRated sets whether calls on a market count. Faults: market_not_found, already_resolved.
func (f *Markets) SetRated(ctx context.Context, r *marketv1.SetRatedRequest) (*marketv1.SetRatedResponse, error) {
	id, err := syntax.ParseMarketID(r.GetId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	m, err := f.creator.SetRated(ctx, id, r.GetRated(), r.GetReason())
	if err != nil {
		return nil, err
	}
	return &marketv1.SetRatedResponse{Market: marketTo(m)}, nil
}

// GetMarket reads one market. Faults: market_not_found, venue_unavailable, db_unavailable.
func (f *Markets) GetMarket(ctx context.Context, r *marketv1.GetMarketRequest) (*marketv1.GetMarketResponse, error) {
	id, err := syntax.ParseMarketID(r.GetId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	m, err := f.reader.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return &marketv1.GetMarketResponse{Market: marketTo(m)}, nil
}

// ListAirable lists what may be put on the air.
func (f *Markets) ListAirable(ctx context.Context, r *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	list, err := f.reader.Airable(ctx, int(r.GetLimit()), syntax.LaneFilter(r.GetLane()))
	if err != nil {
		return nil, err
	}
	return &marketv1.ListAirableResponse{Markets: f.watched(marketsTo(list))}, nil
}

// ListMarkets reads many markets at once.
func (f *Markets) ListMarkets(ctx context.Context, r *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	list, err := f.reader.ListMarkets(ctx, r.GetIds())
	if err != nil {
		return nil, err
	}
	return &marketv1.ListMarketsResponse{Markets: f.watched(marketsTo(list))}, nil
}

// GetSnapshot reads the price that a call without one is filed at.
func (f *Markets) GetSnapshot(ctx context.Context, r *marketv1.GetSnapshotRequest) (*marketv1.GetSnapshotResponse, error) {
	id, err := syntax.ParseMarketID(r.GetMarketId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	yes, err := f.reader.Snapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	return &marketv1.GetSnapshotResponse{YesBps: int32Of(yes)}, nil
}

// ListPrices reads a market's snapshots; an unknown market has none.
func (f *Markets) ListPrices(ctx context.Context, r *marketv1.ListPricesRequest) (*marketv1.ListPricesResponse, error) {
	id, err := syntax.ParseMarketID(r.GetMarketId())
	if err != nil {
		return &marketv1.ListPricesResponse{}, nil
	}
	var from time.Time // of a request without one: the beginning
	if r.From != nil {
		from = r.From.AsTime()
	}
	points, err := f.reader.ListPrices(ctx, id, from)
	if err != nil {
		return nil, err
	}
	out := &marketv1.ListPricesResponse{Points: make([]*marketv1.Point, len(points))}
	for i, p := range points {
		out.Points[i] = &marketv1.Point{T: p.At.Unix(), YesBps: int32(p.Yes)}
	}
	return out, nil
}

func marketsTo(list []market.Market) []*marketv1.Market {
	out := make([]*marketv1.Market, len(list))
	for i := range list {
		out[i] = marketTo(list[i])
	}
	return out
}

func marketTo(m market.Market) *marketv1.Market {
	return &marketv1.Market{
		Id: string(m.ID), Provider: string(m.Provider), Title: m.Title, Description: m.Description,
		EndDate: stampOf(m.EndDate), Status: string(m.Status), Provisional: m.Provisional, Disputed: m.Disputed,
		ResolutionValue: textOf(m.Verdict), YesBps: int32Of(m.Yes), PricedAt: stampOf(m.PricedAt),
		Volume: m.Volume, VolumeUsd: m.VolumeUSD, Volume24H: m.Volume24h, Liquidity: m.Liquidity, VolumeUnit: m.VolumeUnit,
		ClobTokenId: m.ClobTokenID, Lane: string(m.Lane), Category: m.Category, Slug: m.Slug,
		EventKey: m.EventKey, EventTitle: m.EventTitle, Outcomes: m.Outcomes, ImageUrl: m.ImageURL, Url: m.URL,
		UpdatedAt: timestamppb.New(m.UpdatedAt), CreatedAt: timestamppb.New(m.CreatedAt),
		Signals: m.Signals(), Yes: m.YesCount, No: m.NoCount, Takes: m.Takes, Streams: m.Streams,
		ClosePriceBps: int32Of(m.ClosePrice), ResolvesBy: stampOf(m.ResolvesBy), ResolutionSource: m.ResolutionSource,
		Rated: m.Rated,
	}
}
