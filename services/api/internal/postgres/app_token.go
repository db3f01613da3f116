package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// StoreAppTokens stores access tokens of apps and revocations in one transaction, in the given order.
func (s *Store) StoreAppTokens(ctx context.Context, tokens []operator.AppToken, now time.Time) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		for _, t := range tokens {
			var err error
			switch {
			case t.RevokedAt.IsZero():
				err = q.InsertAppToken(ctx, db.InsertAppTokenParams{Hash: t.Hash, GrantID: t.GrantID, ExpiresAt: t.ExpiresAt, Now: now})
			case len(t.Hash) > 0:
				err = q.RevokeAppToken(ctx, db.RevokeAppTokenParams{Hash: t.Hash, RevokedAt: t.RevokedAt})
			default:
				err = q.RevokeAppTokensOfGrant(ctx, db.RevokeAppTokensOfGrantParams{GrantID: t.GrantID, RevokedAt: t.RevokedAt})
			}
			if err != nil {
				return fmt.Errorf("store app token: %w", err)
			}
		}
		return nil
	})
}

// AppToken returns the access token with the given hash, or nil if it is unknown.
func (s *Store) AppToken(ctx context.Context, hash []byte) (*operator.AppToken, error) {
	row, err := s.rq.GetAppToken(ctx, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	t := &operator.AppToken{Hash: hash, GrantID: row.GrantID, ExpiresAt: row.ExpiresAt}
	if row.RevokedAt != nil {
		t.RevokedAt = *row.RevokedAt
	}
	return t, pg.Fault(wrap("get app token", err))
}
