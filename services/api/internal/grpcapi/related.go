package grpcapi

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// GetRelated returns a market and the markets that are related to it. Errors: market_not_found, venue_unavailable,
// db_unavailable.
func (f *Catalogue) GetRelated(ctx context.Context, r *cataloguev1.GetRelatedRequest) (*cataloguev1.GetRelatedResponse, error) {
	m, err := f.market(ctx, r.GetMarketId())
	if err != nil {
		return nil, err
	}
	found, err := f.Search.Related(ctx, search.Doc{
		ID: m.ID, Provider: m.Provider, Title: m.Title, Lane: m.Lane, EventKey: m.EventKey,
	})
	if err != nil {
		return nil, err
	}
	list, err := withMarkets(ctx, f.Markets, found, func(r search.Related) protocol.MarketID { return r.ID },
		func(r search.Related, m *marketv1.Market) *cataloguev1.Relation {
			return &cataloguev1.Relation{Market: m, Relation: string(r.Relation), Similarity: r.Similarity}
		})
	return &cataloguev1.GetRelatedResponse{Active: marketTo(m), Related: list}, err
}

// GetSentiment returns a market with the number, the weight and the confidence of its calls on each side. Errors:
// market_not_found, venue_unavailable, db_unavailable.
func (f *Catalogue) GetSentiment(ctx context.Context, r *cataloguev1.GetSentimentRequest) (*cataloguev1.GetSentimentResponse, error) {
	m, err := f.market(ctx, r.GetMarketId())
	if err != nil {
		return nil, err
	}
	s, err := f.Search.Sentiment(ctx, m.ID)
	return sentimentTo(m, s), err
}

func sentimentTo(m market.Market, s search.Sentiment) *cataloguev1.GetSentimentResponse {
	out := &cataloguev1.GetSentimentResponse{
		Market: marketTo(m), Yes: s.Yes, No: s.No, WeightYes: s.WeightYes, WeightNo: s.WeightNo,
		ConfidenceYes: s.ConfidenceYes, ConfidenceNo: s.ConfidenceNo, TakesYes: s.TakesYes, TakesNo: s.TakesNo,
		Signals24H: s.Signals24h, UpdatedAt: timestamppb.New(s.UpdatedAt),
	}
	if m.Yes != nil && s.Before != nil {
		move := int32(*m.Yes - *s.Before)
		out.Move24HBps = &move
	}
	return out
}

// ListGaps returns open markets with the numbers of their crowds' YES and NO calls. Markets with the widest gap between the
// crowd and the price come first. Error: db_unavailable.
func (f *Catalogue) ListGaps(ctx context.Context, r *cataloguev1.ListGapsRequest) (*cataloguev1.ListGapsResponse, error) {
	gaps, err := f.Search.Gaps(ctx, protocol.MarketID(r.GetMarketId()), int(r.GetLimit()))
	if err != nil {
		return nil, err
	}
	list, err := withMarkets(ctx, f.Markets, gaps, func(g search.Gap) protocol.MarketID { return g.ID },
		func(g search.Gap, m *marketv1.Market) *cataloguev1.Gap {
			return &cataloguev1.Gap{Market: m, CrowdYes: g.Yes, CrowdNo: g.No}
		})
	return &cataloguev1.ListGapsResponse{Gaps: list}, err
}

// ListAddresses returns the markets and the operators that search engines may list. Error: db_unavailable.
func (f *Catalogue) ListAddresses(
	ctx context.Context, r *cataloguev1.ListAddressesRequest,
) (*cataloguev1.ListAddressesResponse, error) {
	list, total, err := f.Search.Addresses(ctx, r.GetOffset(), int(r.GetLimit()))
	show := func(a search.Address) *cataloguev1.Address {
		return &cataloguev1.Address{MarketId: string(a.Market), Handle: string(a.Handle)}
	}
	return &cataloguev1.ListAddressesResponse{Addresses: listOf(list, show), Total: total}, err
}

// market returns the market whose id is raw. Errors: market_not_found (also for an invalid id), venue_unavailable,
// db_unavailable.
func (f *Catalogue) market(ctx context.Context, raw string) (market.Market, error) {
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return market.Market{}, market.ErrNotFound
	}
	return f.Markets.Get(ctx, id)
}
