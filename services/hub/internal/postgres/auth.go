package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// AddRequest implements grant.Codes.
func (g *Grants) AddRequest(ctx context.Context, r grant.Request) error {
	return g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, query("auth_request_add"), r.Hash[:], r.Session[:], r.UserID, r.AppID, r.RedirectURI, r.Scopes.Words(),
			r.State, r.Challenge, r.Resource, r.Renew, r.CreatedAt, r.ExpiresAt)
		if err != nil {
			return fmt.Errorf("insert request: %w", err)
		}
		return nil
	})
}

// TakeRequest implements grant.Codes.
func (g *Grants) TakeRequest(ctx context.Context, hash, session grant.Hash, userID string) (*grant.Request, error) {
	r := grant.Request{Hash: hash, Session: session, UserID: userID}
	err := g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, query("auth_request_take"), hash[:], session[:], userID).Scan(&r.AppID, &r.RedirectURI, scanScopes(&r.Scopes),
			&r.State, &r.Challenge, &r.Resource, &r.Renew, scanTime(&r.CreatedAt), scanTime(&r.ExpiresAt))
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take request: %w", err)
	}
	return &r, nil
}

// AddCode implements grant.Codes.
func (g *Grants) AddCode(ctx context.Context, c grant.Code) error {
	return g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, query("auth_code_add"), c.Hash[:], c.AppID, c.UserID, c.RedirectURI, c.Scopes.Words(), c.Challenge,
			c.Resource, maybeText(c.GrantID), c.Consented, c.CreatedAt, c.ExpiresAt)
		if err != nil {
			return fmt.Errorf("insert code: %w", err)
		}
		return nil
	})
}

// Redeem implements grant.Codes. Locks are taken in the order code, app, grant.
func (g *Grants) Redeem(ctx context.Context, hash grant.Hash, now time.Time, rule func(grant.CodeState) grant.Turn) error {
	var turn grant.Turn
	err := g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		state, err := lockCode(ctx, tx, hash)
		if err != nil {
			return err
		}
		turn = rule(state)
		if turn.UseUp {
			var came *string
			if turn.Err == nil {
				came = &turn.GrantID
			}
			if turn.NewGrant != nil {
				if err := addGrant(ctx, tx, *turn.NewGrant); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, query("auth_code_use"), hash[:], now, came); err != nil {
				return fmt.Errorf("use code: %w", err)
			}
		}
		return write(ctx, tx, turn, now)
	})
	if err != nil {
		return err
	}
	return turn.Err
}

// lockCode reads a code and, if it can still be redeemed, what it belongs to.
func lockCode(ctx context.Context, tx pgx.Tx, hash grant.Hash) (grant.CodeState, error) {
	s := grant.CodeState{Code: grant.Code{Hash: hash}}
	c := &s.Code
	err := tx.QueryRow(ctx, query("auth_code_lock"), hash[:]).Scan(&c.AppID, &c.UserID, &c.RedirectURI, scanScopes(&c.Scopes), &c.Challenge,
		&c.Resource, scanText(&c.GrantID), &c.Consented, scanTime(&c.CreatedAt), scanTime(&c.ExpiresAt), scanTime(&c.UsedAt), &c.Redeemed)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, grant.ErrInvalidGrant
	}
	if err != nil {
		return s, fmt.Errorf("lock code: %w", err)
	}
	if !c.UsedAt.IsZero() {
		return s, nil
	}
	app, err := findApp(ctx, tx, "app_share", c.AppID)
	if err != nil {
		return s, err
	}
	s.App = *app // a foreign key holds it
	if c.GrantID != "" {
		s.Grant, err = lockGrant(ctx, tx, c.GrantID)
	}
	return s, err
}

func addGrant(ctx context.Context, tx pgx.Tx, g grant.Grant) error {
	_, err := tx.Exec(ctx, query("grant_add"), g.ID, g.UserID, g.AppID, g.Scopes.Words(), g.Resource, g.CreatedAt, g.ExpiresAt)
	if err != nil {
		return fmt.Errorf("insert grant: %w", err)
	}
	return nil
}
