package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Pins implements market.Pins.
func (s *Store) Pins(ctx context.Context, limit int) ([]market.Pin, error) {
	rows, err := s.read.Query(ctx, query("pin_list"), limit)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p market.Pin, err error) {
		err = row.Scan(&p.MarketID, &p.Label, &p.Tagline, &p.Position, &p.CreatedAt)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	return out, nil
}

// Pin implements market.Pins.
func (s *Store) Pin(ctx context.Context, p market.Pin) (market.Pin, error) {
	err := s.db.QueryRow(ctx, query("pin_set"), p.MarketID, p.Label, p.Tagline, p.Position, p.CreatedAt).Scan(&p.CreatedAt)
	if err != nil {
		return market.Pin{}, fmt.Errorf("pin market: %w", err)
	}
	return p, nil
}

// Unpin implements market.Pins.
func (s *Store) Unpin(ctx context.Context, id syntax.MarketID) (bool, error) {
	tag, err := s.db.Exec(ctx, query("pin_drop"), id)
	if err != nil {
		return false, fmt.Errorf("unpin market: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}
