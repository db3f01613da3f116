package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// FindGrants implements grant.Grants.
func (g *Grants) FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]grant.Grant, error) {
	rows, err := g.read.Query(ctx, query("grant_find"), userID, appID, now)
	if err != nil {
		return nil, fmt.Errorf("find grants: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one grant.Grant, err error) {
		err = row.Scan(grantFields(&one)...)
		return one, err
	})
	if err != nil {
		return nil, fmt.Errorf("find grants: %w", err)
	}
	return found, nil
}

// GetGrant implements grant.Grants.
func (g *Grants) GetGrant(ctx context.Context, id string) (*grant.Grant, error) {
	var one grant.Grant
	err := g.read.QueryRow(ctx, query("grant_get"), id).Scan(grantFields(&one)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get grant: %w", err)
	}
	return &one, nil
}

// ListGrants implements grant.Grants.
func (g *Grants) ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]grant.Listed, error) {
	rows, err := g.read.Query(ctx, query("grant_list"), userID, maybeText(grantID), now)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l grant.Listed, err error) {
		err = row.Scan(append(grantFields(&l.Grant), &l.App.Name, &l.App.LogoURL, &l.Signers)...)
		l.App.ID = l.AppID
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return list, nil
}

// RevokeGrant implements grant.Grants.
func (g *Grants) RevokeGrant(ctx context.Context, userID, grantID string, by grant.Reason, now time.Time) (found bool, err error) {
	err = g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err = revoke(ctx, tx, userID, grantID, by, now)
		return err
	})
	return found, err
}

// Sweep implements grant.Grants.
func (g *Grants) Sweep(ctx context.Context, now time.Time) (int64, error) {
	var gone int64
	err := g.inTime(ctx, max(g.budget, wideBudget), func(ctx context.Context, tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, query("grant_sweep"), now).Scan(&gone); err != nil {
			return fmt.Errorf("sweep grants: %w", err)
		}
		return nil
	})
	return gone, err
}

// revoke ends a grant, then its signers.
func revoke(ctx context.Context, tx pgx.Tx, userID, grantID string, by grant.Reason, now time.Time) (bool, error) {
	var id string
	err := tx.QueryRow(ctx, query("grant_revoke"), maybeText(userID), grantID, now, string(by)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("revoke grant: %w", err)
	}
	return true, endSigners(ctx, tx, []string{id}, now)
}

// endSigners ends the signers of grants that this transaction has ended.
func endSigners(ctx context.Context, tx pgx.Tx, grants []string, now time.Time) error {
	rows, err := tx.Query(ctx, query("grant_with_signers"), grants)
	if err != nil {
		return fmt.Errorf("find grants with signers: %w", err)
	}
	with, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("find grants with signers: %w", err)
	}
	for _, id := range with {
		if _, err := RevokeSignersOf(ctx, tx, id, now); err != nil {
			return err
		}
	}
	return nil
}

func lockGrant(ctx context.Context, tx pgx.Tx, id string) (*grant.Grant, error) {
	var one grant.Grant
	if err := tx.QueryRow(ctx, query("grant_lock"), id).Scan(grantFields(&one)...); err != nil {
		return nil, fmt.Errorf("lock grant: %w", err)
	}
	return &one, nil
}

func grantFields(g *grant.Grant) []any {
	return []any{
		&g.ID, &g.UserID, &g.AppID, scanScopes(&g.Scopes), &g.Resource, scanTime(&g.CreatedAt), scanTime(&g.ExpiresAt),
		scanTime(&g.LastUsedAt), scanTime(&g.RevokedAt), scanText(&g.RevokedBy),
	}
}
