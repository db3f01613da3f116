package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/outbox"
)

// Waiting implements outbox.Store. Fault: db_unavailable.
func (s *Store) Waiting(ctx context.Context, limit int) ([]outbox.Fact, error) {
	rows, err := s.reads.Query(ctx, query("outbox_waiting"), limit)
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	facts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (outbox.Fact, error) {
		var f outbox.Fact
		err := row.Scan(&f.Place, &f.ID, &f.Type, &f.At, &f.MarketID, &f.Handle, &f.Topic, &f.Data)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	return facts, nil
}

// Sent implements outbox.Store. Fault: db_unavailable.
func (s *Store) Sent(ctx context.Context, places []int64) error {
	if _, err := s.writes.Exec(ctx, query("outbox_sent"), places); err != nil {
		return fmt.Errorf("empty outbox: %w", err)
	}
	return nil
}
