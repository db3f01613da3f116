package grpcapi

import (
	"context"
	"math"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Markets implements the gRPC services MarketService and MarketReadService.
type Markets struct {
	marketv1.UnimplementedMarketServiceServer
	marketv1.UnimplementedMarketReadServiceServer
	Service *market.Service
	Viewers func(marketID string) int // returns the number of viewers of a market; must not block
	// Changes returns the price changes of moving markets in bps; must not block.
	Changes func(protocol.Window) map[protocol.MarketID]int
}

// watched converts markets to protobuf messages and adds the number of viewers and the price change of each market.
func (f *Markets) watched(list []market.Market) []*marketv1.Market {
	changes := f.Changes(protocol.Window1h)
	return listOf(list, func(m market.Market) *marketv1.Market {
		out := marketTo(m)
		out.Viewers = int32(min(f.Viewers(out.GetId()), math.MaxInt32))
		out.Move1HBps = int32(changes[m.ID])
		return out
	})
}

// CreateNative creates a native market. Errors: invalid_<member> for an invalid member, forbidden, rate_limited,
// db_unavailable.
func (f *Markets) CreateNative(ctx context.Context, r *marketv1.CreateNativeRequest) (*marketv1.CreateNativeResponse, error) {
	d := market.Draft{
		Question: r.GetQuestion(), Description: r.GetDescription(), Lane: protocol.Lane(r.GetLane()),
		ResolutionSource: r.ResolutionSource, InitialYes: protocol.Bps(r.GetInitialYesBps()), CreatedBy: r.GetCreatedBy(),
		MessageID: r.GetMessageId(), ResolvesBy: timeOf(r.ResolvesBy),
	}
	if r.CutoffAt != nil {
		d.CutoffAt = r.CutoffAt.AsTime()
	}
	m, err := f.Service.CreateNative(ctx, d)
	return &marketv1.CreateNativeResponse{Market: marketTo(m)}, err
}

// SetRated sets whether a market is rated. Calls on an unrated market do not count. Errors: market_not_found,
// already_resolved, db_unavailable.
func (f *Markets) SetRated(ctx context.Context, r *marketv1.SetRatedRequest) (*marketv1.SetRatedResponse, error) {
	id, err := protocol.ParseMarketID(r.GetId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	m, err := f.Service.SetRated(ctx, id, r.GetRated(), r.GetReason())
	return &marketv1.SetRatedResponse{Market: marketTo(m)}, err
}

// GetMarket returns one market. Errors: market_not_found, venue_unavailable, db_unavailable.
func (f *Markets) GetMarket(ctx context.Context, r *marketv1.GetMarketRequest) (*marketv1.GetMarketResponse, error) {
	id, err := protocol.ParseMarketID(r.GetId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	m, err := f.Service.Get(ctx, id)
	return &marketv1.GetMarketResponse{Market: marketTo(m)}, err
}

// ListAirable returns the markets that a programme may show, of one lane or of all. Error: db_unavailable.
func (f *Markets) ListAirable(ctx context.Context, r *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	list, err := f.Service.Airable(ctx, int(r.GetLimit()), protocol.LaneFilter(r.GetLane()))
	return &marketv1.ListAirableResponse{Markets: f.watched(list)}, err
}

// ListMarkets returns the markets with the requested ids. It omits unknown ids, and ids beyond market.MaxBatch. Error:
// db_unavailable.
func (f *Markets) ListMarkets(ctx context.Context, r *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	list, err := f.Service.ListMarkets(ctx, r.GetIds())
	return &marketv1.ListMarketsResponse{Markets: f.watched(list)}, err
}

// GetSnapshot returns the YES price that a call without a stated price gets; it is absent if the market has no recent price.
// Errors: market_not_found, db_unavailable.
func (f *Markets) GetSnapshot(ctx context.Context, r *marketv1.GetSnapshotRequest) (*marketv1.GetSnapshotResponse, error) {
	id, err := protocol.ParseMarketID(r.GetMarketId())
	if err != nil {
		return nil, market.ErrNotFound
	}
	yes, err := f.Service.Snapshot(ctx, id)
	return &marketv1.GetSnapshotResponse{YesBps: int32Of(yes)}, err
}

func marketTo(m market.Market) *marketv1.Market {
	return &marketv1.Market{
		Id: string(m.ID), Provider: string(m.Provider), Title: m.Title, Description: m.Description,
		EndDate: stampOf(m.EndDate), Status: string(m.Status), Provisional: m.Provisional, Disputed: m.Disputed,
		ResolutionValue: (*string)(m.Verdict), YesBps: int32Of(m.Yes), PricedAt: stampOf(m.PricedAt),
		Volume: m.Volume, VolumeUsd: m.VolumeUSD, Volume24H: m.Volume24h, Liquidity: m.Liquidity, VolumeUnit: m.VolumeUnit,
		ClobTokenId: m.ClobTokenID, Lane: string(m.Lane), Category: m.Category, Slug: m.Slug,
		EventKey: m.EventKey, EventTitle: m.EventTitle, Outcomes: m.Sides(), ImageUrl: m.ImageURL, Url: m.URL,
		UpdatedAt: timestamppb.New(m.UpdatedAt), CreatedAt: timestamppb.New(m.CreatedAt),
		Signals: m.Signals(), Yes: m.YesCount, No: m.NoCount, Takes: m.Takes, Streams: m.Streams, Tapes: m.Tapes,
		ClosePriceBps: int32Of(m.ClosePrice), ResolvesBy: stampOf(m.ResolvesBy), ResolutionSource: m.ResolutionSource,
		Rated: m.Rated, YesPriceBps: int32Of(m.YesPrice), NoPriceBps: int32Of(m.NoPrice), SidesPricedAt: stampOf(m.SidesPricedAt),
	}
}
