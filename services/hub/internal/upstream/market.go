package upstream

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Markets is the ledger's owner of markets.
type Markets struct {
	read  marketv1.MarketReadServiceClient
	write marketv1.MarketServiceClient
}

// NewMarkets uses a connection to the ledger.
func NewMarkets(cc grpc.ClientConnInterface) *Markets {
	return &Markets{marketv1.NewMarketReadServiceClient(cc), marketv1.NewMarketServiceClient(cc)}
}

// Market implements market.Ledger.
func (m *Markets) Market(ctx context.Context, id syntax.MarketID) (market.Market, error) {
	r, err := m.read.GetMarket(ctx, &marketv1.GetMarketRequest{Id: string(id)})
	if err != nil {
		return market.Market{}, err
	}
	return marketOf(r.GetMarket()), nil
}

// Airable implements market.Ledger.
func (m *Markets) Airable(ctx context.Context, lane syntax.Lane, limit int) ([]market.Market, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := m.read.ListAirable(ctx, &marketv1.ListAirableRequest{Lane: string(lane), Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]market.Market, 0, len(r.GetMarkets()))
	for _, one := range r.GetMarkets() {
		out = append(out, marketOf(one))
	}
	return out, nil
}

// Known implements broadcast.Markets.
func (m *Markets) Known(ctx context.Context, ids []syntax.MarketID) (map[syntax.MarketID]market.Market, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := m.read.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: plain(ids)})
	if err != nil {
		return nil, err
	}
	out := make(map[syntax.MarketID]market.Market, len(r.GetMarkets()))
	for _, one := range r.GetMarkets() {
		out[syntax.MarketID(one.GetId())] = marketOf(one)
	}
	return out, nil
}

func plain(ids []syntax.MarketID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

// Create implements market.Ledger.
func (m *Markets) Create(ctx context.Context, d market.Draft) (market.Market, error) {
	r, err := m.write.CreateNative(ctx, &marketv1.CreateNativeRequest{
		Question: d.Question, Description: d.Description, CutoffAt: stamp(d.CutoffAt), ResolvesBy: stamp(d.ResolvesBy),
		Lane: string(d.Lane), ResolutionSource: d.ResolutionSource, InitialYesBps: int32(d.InitialYes), CreatedBy: d.CreatedBy,
		MessageId: d.MessageID,
	})
	if err != nil {
		return market.Market{}, err
	}
	return marketOf(r.GetMarket()), nil
}

// SetRated implements market.Ledger.
func (m *Markets) SetRated(ctx context.Context, id syntax.MarketID, rated bool, reason string) (market.Market, error) {
	r, err := m.write.SetRated(ctx, &marketv1.SetRatedRequest{Id: string(id), Rated: rated, Reason: reason})
	if err != nil {
		return market.Market{}, err
	}
	return marketOf(r.GetMarket()), nil
}

// Snapshot implements creation.Markets.
func (m *Markets) Snapshot(ctx context.Context, id syntax.MarketID) (*syntax.Bps, error) {
	r, err := m.read.GetSnapshot(ctx, &marketv1.GetSnapshotRequest{MarketId: string(id)})
	if err != nil || r.YesBps == nil {
		return nil, err
	}
	yes := syntax.Bps(r.GetYesBps())
	return &yes, nil
}

func marketOf(m *marketv1.Market) market.Market {
	return market.Market{
		ID:               syntax.MarketID(m.GetId()),
		Provider:         syntax.Provider(m.GetProvider()),
		Title:            m.GetTitle(),
		Description:      m.GetDescription(),
		EndDate:          at(m.GetEndDate()),
		Status:           syntax.MarketStatus(m.GetStatus()),
		Provisional:      m.GetProvisional(),
		Disputed:         m.GetDisputed(),
		ResolutionValue:  m.ResolutionValue,
		ClosePrice:       m.ClosePriceBps,
		Yes:              m.YesBps,
		Volume:           m.Volume,
		VolumeUnit:       m.GetVolumeUnit(),
		VolumeUSD:        m.VolumeUsd,
		Volume24h:        m.Volume24H,
		Liquidity:        m.Liquidity,
		Slug:             m.GetSlug(),
		EventKey:         m.GetEventKey(),
		URL:              m.GetUrl(),
		ClobTokenID:      m.GetClobTokenId(),
		Lane:             syntax.Lane(m.GetLane()),
		Category:         m.GetCategory(),
		Outcomes:         labels(m.GetOutcomes()),
		UpdatedAt:        at(m.GetUpdatedAt()),
		CreatedAt:        at(m.GetCreatedAt()),
		ResolvesBy:       at(m.GetResolvesBy()),
		ResolutionSource: m.ResolutionSource,
		SignalsYes:       m.GetYes(),
		SignalsNo:        m.GetNo(),
		Takes:            m.GetTakes(),
		Streams:          m.GetStreams(),
		Rated:            m.GetRated(),
	}
}

// labels are the two sides' names where they say more than Yes and No.
func labels(given []string) []string {
	if len(given) != 2 || strings.EqualFold(given[0], "yes") && strings.EqualFold(given[1], "no") {
		return nil
	}
	return given
}
