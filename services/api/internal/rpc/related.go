package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// GetRelated reads a market and what belongs with it. Faults: market_not_found,
// venue_unavailable, db_unavailable.
func (f *Catalogue) GetRelated(ctx context.Context, r *cataloguev1.GetRelatedRequest) (*cataloguev1.GetRelatedResponse, error) {
	m, err := f.market(ctx, r.GetMarketId())
	if err != nil {
		return nil, err
	}
	found, err := f.search.Related(ctx, search.Doc{
		ID: m.ID, Provider: m.Provider, Title: m.Title, Lane: m.Lane, EventKey: m.EventKey,
	})
	if err != nil {
		return nil, err
	}
	ids, why := make([]syntax.MarketID, len(found)), make(map[syntax.MarketID]search.Related, len(found))
	for i, one := range found {
		ids[i], why[one.ID] = one.ID, one
	}
	list, err := f.inOrder(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.GetRelatedResponse{Active: marketTo(m), Related: make([]*cataloguev1.Relation, len(list))}
	for i := range list {
		one := why[list[i].ID]
		out.Related[i] = &cataloguev1.Relation{Market: marketTo(list[i]), Relation: string(one.Relation), Similarity: one.Similarity}
	}
	return out, nil
}

// GetSentiment reads how those who called on a market lean. Faults:
// market_not_found, venue_unavailable, db_unavailable.
func (f *Catalogue) GetSentiment(ctx context.Context, r *cataloguev1.GetSentimentRequest) (*cataloguev1.GetSentimentResponse, error) {
	m, err := f.market(ctx, r.GetMarketId())
	if err != nil {
		return nil, err
	}
	s, err := f.search.Sentiment(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.GetSentimentResponse{
		Market: marketTo(m), Yes: s.Yes, No: s.No, WeightYes: s.WeightYes, WeightNo: s.WeightNo,
		ConfidenceYes: s.ConfidenceYes, ConfidenceNo: s.ConfidenceNo, TakesYes: s.TakesYes, TakesNo: s.TakesNo,
		Signals24H: s.Signals24h, UpdatedAt: timestamppb.New(s.UpdatedAt),
	}
	if m.Yes != nil && s.Before != nil {
		move := int32(*m.Yes - *s.Before)
		out.Move24HBps = &move
	}
	return out, nil
}

// ListGaps lists open markets where crowd and price differ. Fault: db_unavailable.
func (f *Catalogue) ListGaps(ctx context.Context, r *cataloguev1.ListGapsRequest) (*cataloguev1.ListGapsResponse, error) {
	gaps, err := f.search.Gaps(ctx, syntax.MarketID(r.GetMarketId()), int(r.GetLimit()))
	if err != nil {
		return nil, err
	}
	ids, crowd := make([]syntax.MarketID, len(gaps)), make(map[syntax.MarketID]search.Gap, len(gaps))
	for i, g := range gaps {
		ids[i], crowd[g.ID] = g.ID, g
	}
	list, err := f.inOrder(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := &cataloguev1.ListGapsResponse{}
	for i := range list {
		g := crowd[list[i].ID]
		out.Gaps = append(out.Gaps, &cataloguev1.Gap{Market: marketTo(list[i]), CrowdYes: g.Yes, CrowdNo: g.No})
	}
	return out, nil
}

// market reads one market; an id of no known form is no market.
func (f *Catalogue) market(ctx context.Context, raw string) (market.Market, error) {
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return market.Market{}, market.ErrNotFound
	}
	return f.markets.Get(ctx, id)
}
