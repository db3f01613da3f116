package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// KnownLanes implements lane.Store.
func (s *Store) KnownLanes(ctx context.Context, ids []string) (map[string]lane.Known, error) {
	rows, err := s.reads.Query(ctx, query("lane_known"), ids)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_known: %w", err))
	}
	out := make(map[string]lane.Known, len(ids))
	var id string
	var k lane.Known
	if _, err := pgx.ForEachRow(rows, []any{&id, &k.Title, &k.Lane, &k.Category, &k.Ruled}, func() error {
		out[id] = k
		return nil
	}); err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_known: %w", err))
	}
	return out, nil
}

// RuleLane implements lane.Store.
func (s *Store) RuleLane(ctx context.Context, id string, to syntax.Lane, place func(title string) string, now time.Time) (category string, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var title, from, was string
		switch err := tx.QueryRow(ctx, query("lane_lock"), id).Scan(&title, &from, &was); {
		case errors.Is(err, pgx.ErrNoRows):
			return market.ErrNotFound
		case err != nil:
			return fmt.Errorf("lock market: %w", err)
		}
		category = place(title)
		if _, err := tx.Exec(ctx, query("lane_rule"), id, to, category, now); err != nil {
			return fmt.Errorf("rule lane: %w", err)
		}
		return audit(ctx, tx, now, "market.lane", id, map[string]any{"from": from, "to": to, "fromCategory": was, "toCategory": category})
	})
	return category, err
}

// LaneCounts implements lane.Store.
func (s *Store) LaneCounts(ctx context.Context) ([]lane.Count, error) {
	rows, err := s.reads.Query(ctx, query("lane_counts"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_counts: %w", err))
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c lane.Count, err error) {
		err = row.Scan(&c.Lane, &c.Signals, &c.Open, &c.Markets)
		return c, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_counts: %w", err))
	}
	return out, nil
}
