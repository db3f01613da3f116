package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// Refresh implements grant.Tokens. Locks are taken in the order token, grant.
func (g *Grants) Refresh(ctx context.Context, hash grant.Hash, now time.Time, rule func(grant.RefreshState) grant.Turn) error {
	var turn grant.Turn
	err := g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		state, err := lockRefresh(ctx, tx, hash)
		if err != nil {
			return err
		}
		turn = rule(state)
		if turn.Refresh != nil {
			if _, err := tx.Exec(ctx, query("token_refresh_rotate"), hash[:], now, turn.Rotate[:]); err != nil {
				return fmt.Errorf("rotate refresh token: %w", err)
			}
		}
		if turn.Err == nil {
			if _, err := tx.Exec(ctx, query("grant_touch"), turn.GrantID, now, grant.UsedAtMost); err != nil {
				return fmt.Errorf("note use: %w", err)
			}
		}
		return write(ctx, tx, turn, now)
	})
	if err != nil {
		return err
	}
	return turn.Err
}

func lockRefresh(ctx context.Context, tx pgx.Tx, hash grant.Hash) (grant.RefreshState, error) {
	var s grant.RefreshState
	var successor *grant.Hash
	err := tx.QueryRow(ctx, query("token_refresh_lock"), hash[:]).Scan(scanHash(&successor))
	if errors.Is(err, pgx.ErrNoRows) {
		return s, grant.ErrInvalidGrant
	}
	if err != nil {
		return s, fmt.Errorf("lock refresh token: %w", err)
	}
	own, err := findToken(ctx, tx, "token_refresh_find", hash)
	if err != nil {
		return s, err
	}
	s.Token, s.Grant, s.App = own.Token, own.Grant, own.App // the lock holds it
	if successor != nil {
		next, err := findToken(ctx, tx, "token_refresh_find", *successor)
		if err != nil {
			return s, err
		}
		if next != nil {
			s.Successor = &next.Token
		}
	}
	return s, nil
}

// write does what the turns of codes and of refresh tokens have in common.
func write(ctx context.Context, tx pgx.Tx, turn grant.Turn, now time.Time) error {
	if turn.Revoke != "" {
		if _, err := revoke(ctx, tx, "", turn.GrantID, turn.Revoke, now); err != nil {
			return err
		}
	}
	if !turn.Extend.IsZero() {
		if _, err := tx.Exec(ctx, query("grant_extend"), turn.GrantID, turn.Extend); err != nil {
			return fmt.Errorf("extend grant: %w", err)
		}
	}
	if err := addToken(ctx, tx, "token_access_add", turn.Access); err != nil {
		return err
	}
	return addToken(ctx, tx, "token_refresh_add", turn.Refresh)
}

func addToken(ctx context.Context, tx pgx.Tx, name string, t *grant.Token) error {
	if t == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, query(name), t.Hash[:], t.GrantID, t.Scopes.Words(), t.CreatedAt, t.ExpiresAt); err != nil {
		return fmt.Errorf("insert token: %w", err)
	}
	return nil
}

// UseAccess implements grant.Tokens.
func (g *Grants) UseAccess(ctx context.Context, hash grant.Hash, now time.Time) (*grant.TokenState, error) {
	return findToken(ctx, g.read, "token_access_use", hash, now, grant.UsedAtMost)
}

// FindAccess implements grant.Tokens.
func (g *Grants) FindAccess(ctx context.Context, hash grant.Hash) (*grant.TokenState, error) {
	return findToken(ctx, g.read, "token_access_find", hash)
}

// FindRefresh implements grant.Tokens.
func (g *Grants) FindRefresh(ctx context.Context, hash grant.Hash) (*grant.TokenState, error) {
	return findToken(ctx, g.read, "token_refresh_find", hash)
}

// RevokeAccess implements grant.Tokens.
func (g *Grants) RevokeAccess(ctx context.Context, hash grant.Hash, now time.Time) error {
	return g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("token_access_revoke"), hash[:], now); err != nil {
			return fmt.Errorf("revoke access token: %w", err)
		}
		return nil
	})
}

// findToken gives nil for an unknown token.
func findToken(ctx context.Context, from asker, name string, hash grant.Hash, args ...any) (*grant.TokenState, error) {
	s := grant.TokenState{Token: grant.Token{Hash: hash}}
	t := &s.Token
	fields := []any{&t.GrantID, scanScopes(&t.Scopes), scanTime(&t.CreatedAt), scanTime(&t.ExpiresAt), scanTime(&t.EndedAt)}
	fields = append(fields, grantFields(&s.Grant)...)
	fields = append(fields, &s.App.Kind, scanScopes(&s.App.Scopes), scanTime(&s.App.DisabledAt))
	err := from.QueryRow(ctx, query(name), append([]any{hash[:]}, args...)...).Scan(fields...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.App.ID = s.Grant.AppID
	return &s, nil
}
