package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// GetSentiment reads how the calls on a market lean; one without calls is all
// zero.
func (s *Store) GetSentiment(ctx context.Context, id syntax.MarketID, now time.Time) (out search.Sentiment, err error) {
	err = s.reads.QueryRow(ctx, query("search_sentiment"), string(id), now).Scan(&out.Yes, &out.No, &out.WeightYes, &out.WeightNo,
		&out.ConfidenceYes, &out.ConfidenceNo, &out.TakesYes, &out.TakesNo, &out.Signals24h, &out.Before)
	if err != nil {
		return search.Sentiment{}, pg.Fault(fmt.Errorf("read sentiment: %w", err))
	}
	return out, nil
}

// ListGaps lists open markets by how far the crowd is from the price; an empty id
// is every market.
func (s *Store) ListGaps(ctx context.Context, id syntax.MarketID, now time.Time, limit int) ([]search.Gap, error) {
	rows, err := s.reads.Query(ctx, query("search_gaps"), string(id), now, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list gaps: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g search.Gap, err error) {
		err = row.Scan(&g.ID, &g.Yes, &g.No)
		return g, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list gaps: %w", err))
	}
	return list, nil
}
