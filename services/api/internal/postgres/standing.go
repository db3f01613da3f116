package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// ListStandings reads where markets stand, of those that are known.
func (s *Store) ListStandings(ctx context.Context, ids []string) ([]feed.Standing, error) {
	rows, err := s.pool.Query(ctx, query("market_standings"), ids)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list standings: %w", err))
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (feed.Standing, error) {
		var st feed.Standing
		err := row.Scan(&st.MarketID, &st.Yes, &st.CrowdYes, &st.CrowdNo)
		return st, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list standings: %w", err))
	}
	return out, nil
}
