package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// endOfTime is after every resolution.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// ListSearchable reads what is searched of the markets whose row or quote
// changed since; the zero time is all of them.
func (s *Store) ListSearchable(ctx context.Context, since time.Time) ([]search.Doc, error) {
	if since.IsZero() {
		rows, err := s.q.ListSearchable(ctx)
		return pg.Collect(rows, docOf), pg.Fault(wrap("list searchable", err))
	}
	rows, err := s.q.ListSearchableSince(ctx, since)
	return pg.Collect(rows, func(r db.ListSearchableSinceRow) search.Doc { return docOf(db.ListSearchableRow(r)) }),
		pg.Fault(wrap("list searchable", err))
}

func docOf(r db.ListSearchableRow) search.Doc {
	return search.Doc{
		ID: syntax.MarketID(r.MarketID), Provider: syntax.Provider(r.Provider), Title: r.Title, Slug: r.Slug,
		Status: syntax.MarketStatus(r.Status), Lane: syntax.Lane(r.Lane), EventKey: r.EventKey, EndDate: r.EndDate,
		Volume: r.VolumeUsd, Volume24h: r.Volume24h,
	}
}

// ListResolved reads the markets of a provider that have an outcome, the newest
// first, after a place.
func (s *Store) ListResolved(ctx context.Context, p syntax.Provider, after search.Place, limit int) ([]search.Resolved, error) {
	if after.At.IsZero() {
		after = search.Place{At: endOfTime}
	}
	rows, err := s.rq.ListResolvedMarkets(ctx, db.ListResolvedMarketsParams{
		Provider: string(p), BeforeAt: after.At, BeforeID: string(after.ID), Limit: int32(limit),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list resolved: %w", err))
	}
	return pg.Collect(rows, func(r db.ListResolvedMarketsRow) search.Resolved {
		return search.Resolved{
			ID: syntax.MarketID(r.MarketID), Title: r.Title, Verdict: syntax.Verdict(r.Outcome), ResolvedAt: r.ResolvedAt,
			ClosePrice: convertInt[syntax.Bps](r.ClosePrice), Volume: r.VolumeUsd, Signals: r.Signals,
		}
	}), nil
}

// GetSentiment reads how the calls on a market lean; one without calls is all
// zero.
func (s *Store) GetSentiment(ctx context.Context, id syntax.MarketID, now time.Time) (search.Sentiment, error) {
	r, err := s.rq.GetSentiment(ctx, db.GetSentimentParams{MarketID: string(id), Now: now})
	if err != nil {
		return search.Sentiment{}, pg.Fault(fmt.Errorf("read sentiment: %w", err))
	}
	return search.Sentiment{
		Yes: r.Yes, No: r.No, WeightYes: r.WeightYes, WeightNo: r.WeightNo, ConfidenceYes: r.ConfidenceYes,
		ConfidenceNo: r.ConfidenceNo, TakesYes: r.TakesYes, TakesNo: r.TakesNo, Signals24h: r.Signals24h,
		Before: convertInt[syntax.Bps](r.Before),
	}, nil
}

// ListGaps lists open markets by how far the crowd is from the price; an empty id
// is every market.
func (s *Store) ListGaps(ctx context.Context, id syntax.MarketID, now time.Time, limit int) ([]search.Gap, error) {
	rows, err := s.rq.ListGaps(ctx, db.ListGapsParams{MarketID: string(id), Now: now, Limit: int32(limit)})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list gaps: %w", err))
	}
	return pg.Collect(rows, func(r db.ListGapsRow) search.Gap {
		return search.Gap{ID: syntax.MarketID(r.MarketID), Yes: r.Yes, No: r.No}
	}), nil
}
