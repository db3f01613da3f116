package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// KeepClaim implements claim.Store. Claims are made one after the other: two that
// move two wallets crosswise would wait for each other for ever.
func (s *Store) KeepClaim(ctx context.Context, owner operator.ID, c claim.Claim) error {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err := pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("claim_turn")); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query("claim_move"), owner, c.Station, c.Identity); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, query("claim_keep"), owner, c.Station, c.Identity, c.VerifiedAt)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep claim: %w", err)
	}
	return nil
}

// ListClaims implements claim.Store.
func (s *Store) ListClaims(ctx context.Context, owner operator.ID) ([]claim.Claim, error) {
	rows, err := s.read.Query(ctx, query("claim_list"), owner)
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c claim.Claim, err error) {
		err = row.Scan(&c.Station, &c.Identity, &c.VerifiedAt)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	return out, nil
}

// DropClaim implements claim.Store.
func (s *Store) DropClaim(ctx context.Context, owner operator.ID, station string) (bool, error) {
	tag, err := s.db.Exec(ctx, query("claim_drop"), owner, station)
	if err != nil {
		return false, fmt.Errorf("drop claim: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}
