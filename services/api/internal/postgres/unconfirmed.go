package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// TakeUnconfirmed implements market.CatalogueStore.
func (s *Store) TakeUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]syntax.MarketID, error) {
	rows, err := s.pool.Query(ctx, query("unconfirmed_take"), now, before, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list unconfirmed markets: %w", err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[syntax.MarketID])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list unconfirmed markets: %w", err))
	}
	return ids, nil
}

// DenyUnconfirmed implements market.CatalogueStore.
func (s *Store) DenyUnconfirmed(ctx context.Context, ids []syntax.MarketID, before, now time.Time) (int64, error) {
	markets := make([]string, len(ids))
	for i, id := range ids {
		markets[i] = string(id)
	}
	done, err := s.pool.Exec(ctx, query("unconfirmed_deny"), markets, before, now)
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("void unconfirmed calls: %w", err))
	}
	return done.RowsAffected(), nil
}

// publishCalls publishes the unconfirmed calls on markets that were just stored.
func publishCalls(ctx context.Context, tx pgx.Tx, ids []string, now time.Time) error {
	if _, err := tx.Exec(ctx, query("unconfirmed_publish"), ids, now); err != nil {
		return fmt.Errorf("publish unconfirmed calls: %w", err)
	}
	return nil
}
