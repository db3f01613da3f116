package memledger

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// FindMarkets shows the markets whose title has the text, by id; the cursor is
// the last id of a page.
func (l *Ledger) FindMarkets(ctx context.Context, r *cataloguev1.FindMarketsRequest) (*cataloguev1.FindMarketsResponse, error) {
	return do(ctx, l, "FindMarkets", func() (*cataloguev1.FindMarketsResponse, error) {
		l.LastFind = r
		out := &cataloguev1.FindMarketsResponse{}
		for _, m := range l.byID() {
			if r.GetProvider() != "" && m.GetProvider() != r.GetProvider() || r.GetLane() != "" && m.GetLane() != r.GetLane() || m.GetId() <= r.GetCursor() ||
				(m.GetStatus() != "open") != r.GetClosed() || !strings.Contains(strings.ToLower(m.GetTitle()), strings.ToLower(r.GetText())) {
				continue
			}
			if len(out.Markets) == int(r.GetLimit()) {
				out.NextCursor = out.Markets[len(out.Markets)-1].GetId()
				break
			}
			out.Markets = append(out.Markets, m)
		}
		return out, nil
	})
}

// ListResolved shows the markets with an outcome by id; the cursor is the last
// id of a page.
func (l *Ledger) ListResolved(ctx context.Context, r *cataloguev1.ListResolvedRequest) (*cataloguev1.ListResolvedResponse, error) {
	return do(ctx, l, "ListResolved", func() (*cataloguev1.ListResolvedResponse, error) {
		out := &cataloguev1.ListResolvedResponse{}
		for _, m := range l.byID() {
			o := l.Outcomes[m.GetId()]
			if o.GetOutcome() == "" || m.GetProvider() != r.GetProvider() || m.GetId() <= r.GetCursor() {
				continue
			}
			if len(out.Markets) == int(r.GetLimit()) {
				out.NextCursor = out.Markets[len(out.Markets)-1].GetId()
				break
			}
			out.Markets = append(out.Markets, &cataloguev1.ResolvedMarket{
				Id: m.GetId(), Title: m.GetTitle(), Outcome: o.GetOutcome(), ResolvedAt: o.GetResolvedAt(),
				ClosePriceBps: m.ClosePriceBps, Volume: m.VolumeUsd, Signals: m.GetSignals(),
			})
		}
		return out, nil
	})
}

// ListTiles answers what the test put there, pinned tiles first in the order of
// their pins.
func (l *Ledger) ListTiles(ctx context.Context, r *cataloguev1.ListTilesRequest) (*cataloguev1.ListTilesResponse, error) {
	return do(ctx, l, "ListTiles", func() (*cataloguev1.ListTilesResponse, error) {
		l.LastTiles = r
		place := func(t *cataloguev1.Tile) int {
			if i := slices.Index(r.GetPinned(), t.GetMarketId()); i >= 0 {
				return i
			}
			return len(r.GetPinned())
		}
		tiles := slices.Clone(l.Tiles[r.GetMode()])
		slices.SortStableFunc(tiles, func(a, b *cataloguev1.Tile) int { return cmp.Compare(place(a), place(b)) })
		return &cataloguev1.ListTilesResponse{Tiles: tiles, UpdatedAt: l.stamp()}, nil
	})
}

// ListHistory answers what the test put there.
func (l *Ledger) ListHistory(ctx context.Context, r *cataloguev1.ListHistoryRequest) (*cataloguev1.ListHistoryResponse, error) {
	return do(ctx, l, "ListHistory", func() (*cataloguev1.ListHistoryResponse, error) {
		return &cataloguev1.ListHistoryResponse{Points: l.Histories[r.GetInterval()+" "+cmp.Or(r.GetTokenId(), r.GetMarketId())]}, nil
	})
}

// GetRelated answers what the test put there, for markets that exist.
func (l *Ledger) GetRelated(ctx context.Context, r *cataloguev1.GetRelatedRequest) (*cataloguev1.GetRelatedResponse, error) {
	return do(ctx, l, "GetRelated", func() (*cataloguev1.GetRelatedResponse, error) {
		m := l.Markets[r.GetMarketId()]
		if m == nil {
			return nil, ErrMarketNotFound
		}
		return &cataloguev1.GetRelatedResponse{Active: m, Related: l.Relations[r.GetMarketId()]}, nil
	})
}

// GetSentiment answers what the test put there, for markets that exist.
func (l *Ledger) GetSentiment(ctx context.Context, r *cataloguev1.GetSentimentRequest) (*cataloguev1.GetSentimentResponse, error) {
	return do(ctx, l, "GetSentiment", func() (*cataloguev1.GetSentimentResponse, error) {
		m := l.Markets[r.GetMarketId()]
		if m == nil {
			return nil, ErrMarketNotFound
		}
		out := &cataloguev1.GetSentimentResponse{}
		proto.Merge(out, l.Sentiments[r.GetMarketId()])
		out.Market, out.UpdatedAt = m, l.stamp()
		return out, nil
	})
}

// ListGaps answers what the test put there.
func (l *Ledger) ListGaps(ctx context.Context, r *cataloguev1.ListGapsRequest) (*cataloguev1.ListGapsResponse, error) {
	return do(ctx, l, "ListGaps", func() (*cataloguev1.ListGapsResponse, error) {
		out := &cataloguev1.ListGapsResponse{}
		for _, g := range l.Gaps {
			if r.GetMarketId() == "" || r.GetMarketId() == g.GetMarket().GetId() {
				out.Gaps = append(out.Gaps, g)
			}
		}
		out.Gaps = out.Gaps[:min(len(out.Gaps), int(r.GetLimit()))]
		return out, nil
	})
}

func (l *Ledger) byID() []*marketv1.Market {
	out := make([]*marketv1.Market, 0, len(l.Markets))
	for _, m := range l.Markets {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *marketv1.Market) int { return cmp.Compare(a.GetId(), b.GetId()) })
	return out
}
