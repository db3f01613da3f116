package upstream

import (
	"context"

	"google.golang.org/grpc"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Catalogue is the ledger's catalogue.
type Catalogue struct {
	read cataloguev1.CatalogueReadServiceClient
}

// NewCatalogue uses a connection to the ledger.
func NewCatalogue(cc grpc.ClientConnInterface) *Catalogue {
	return &Catalogue{cataloguev1.NewCatalogueReadServiceClient(cc)}
}

// Find implements market.Catalogue.
func (k *Catalogue) Find(ctx context.Context, q market.Query) (market.Page, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := k.read.FindMarkets(ctx, &cataloguev1.FindMarketsRequest{
		Text: q.Text, Provider: string(q.Provider), Lane: string(q.Lane), Closed: q.Closed, Sort: q.Sort,
		Limit: int32(q.Limit), Cursor: q.Cursor,
	})
	if err != nil {
		return market.Page{}, err
	}
	out := market.Page{NextCursor: r.GetNextCursor(), Markets: make([]market.Market, 0, len(r.GetMarkets()))}
	for _, m := range r.GetMarkets() {
		out.Markets = append(out.Markets, marketOf(m))
	}
	return out, nil
}

// Resolved implements market.Catalogue.
func (k *Catalogue) Resolved(ctx context.Context, p syntax.Provider, limit int, cursor string) (market.ResolvedPage, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := k.read.ListResolved(ctx, &cataloguev1.ListResolvedRequest{Provider: string(p), Limit: int32(limit), Cursor: cursor})
	if err != nil {
		return market.ResolvedPage{}, err
	}
	out := market.ResolvedPage{NextCursor: r.GetNextCursor(), Markets: make([]market.Resolved, 0, len(r.GetMarkets()))}
	for _, m := range r.GetMarkets() {
		out.Markets = append(out.Markets, market.Resolved{
			ID: syntax.MarketID(m.GetId()), Title: m.GetTitle(), Outcome: m.GetOutcome(), ResolvedAt: at(m.GetResolvedAt()),
			ClosePrice: m.ClosePriceBps, Volume: m.Volume, Signals: m.GetSignals(),
		})
	}
	return out, nil
}

// Tiles implements market.Catalogue.
func (k *Catalogue) Tiles(ctx context.Context, mode string, pinned []syntax.MarketID) (market.Heatmap, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	ids := make([]string, len(pinned))
	for i, id := range pinned {
		ids[i] = string(id)
	}
	r, err := k.read.ListTiles(ctx, &cataloguev1.ListTilesRequest{Mode: mode, Pinned: ids})
	if err != nil {
		return market.Heatmap{}, err
	}
	out := market.Heatmap{UpdatedAt: at(r.GetUpdatedAt()), Tiles: make([]market.Tile, 0, len(r.GetTiles()))}
	for _, t := range r.GetTiles() {
		out.Tiles = append(out.Tiles, market.Tile{
			ID: t.GetId(), Label: t.GetLabel(), MarketID: syntax.MarketID(t.GetMarketId()), Title: t.GetTitle(),
			Lane: syntax.Lane(t.GetLane()), Markets: t.GetMarketCount(), Volume24h: t.GetVolume24H(), Yes: t.YesBps,
			Move: t.Move24HBps, ImageURL: t.GetImageUrl(), EndsAt: at(t.GetEndsAt()), Attention: t.GetAttention(),
		})
	}
	return out, nil
}

// History implements market.Catalogue. It may go on to a venue, so it has the
// time of its request.
func (k *Catalogue) History(ctx context.Context, id syntax.MarketID, token string, i market.Interval) ([]market.Point, error) {
	r, err := k.read.ListHistory(ctx, &cataloguev1.ListHistoryRequest{MarketId: string(id), TokenId: token, Interval: string(i)})
	if err != nil {
		return nil, err
	}
	out := make([]market.Point, 0, len(r.GetPoints()))
	for _, p := range r.GetPoints() {
		out = append(out, market.Point{T: p.GetT(), P: p.GetP()})
	}
	return out, nil
}

// Related implements market.Catalogue.
func (k *Catalogue) Related(ctx context.Context, id syntax.MarketID) (market.Related, error) {
	r, err := k.read.GetRelated(ctx, &cataloguev1.GetRelatedRequest{MarketId: string(id)})
	if err != nil {
		return market.Related{}, err
	}
	out := market.Related{Active: marketOf(r.GetActive())}
	for _, one := range r.GetRelated() {
		out.Related = append(out.Related, market.Relation{
			Market: marketOf(one.GetMarket()), Relation: one.GetRelation(), Similarity: one.GetSimilarity(),
		})
	}
	return out, nil
}

// Sentiment implements market.Catalogue.
func (k *Catalogue) Sentiment(ctx context.Context, id syntax.MarketID) (market.Sentiment, error) {
	r, err := k.read.GetSentiment(ctx, &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	if err != nil {
		return market.Sentiment{}, err
	}
	return market.Sentiment{
		Market: marketOf(r.GetMarket()), Yes: r.GetYes(), No: r.GetNo(), WeightYes: r.GetWeightYes(), WeightNo: r.GetWeightNo(),
		ConfidenceYes: r.ConfidenceYes, ConfidenceNo: r.ConfidenceNo, TakesYes: r.GetTakesYes(), TakesNo: r.GetTakesNo(),
		Signals24h: r.GetSignals24H(), Move24h: r.Move24HBps, UpdatedAt: at(r.GetUpdatedAt()),
	}, nil
}

// Gaps implements market.Catalogue.
func (k *Catalogue) Gaps(ctx context.Context, id syntax.MarketID, limit int) ([]market.Gap, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := k.read.ListGaps(ctx, &cataloguev1.ListGapsRequest{MarketId: string(id), Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]market.Gap, 0, len(r.GetGaps()))
	for _, g := range r.GetGaps() {
		out = append(out, market.Gap{Market: marketOf(g.GetMarket()), Yes: g.GetCrowdYes(), No: g.GetCrowdNo()})
	}
	return out, nil
}
