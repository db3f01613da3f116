package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Signers stores the keys that sign messages, and challenges for new ones.
type Signers struct{ s *Store }

// Signers returns the store's part for signers.
func (s *Store) Signers() Signers { return Signers{s} }

// Find implements message.Signers.
func (g Signers) Find(ctx context.Context, key message.Key) (message.Signer, bool, error) {
	row, ok, err := found(g.s.read.GetSigner(ctx, key))
	return signerIf(row.Signer, ok, err)
}

// Challenge implements message.Signers.
func (g Signers) Challenge(ctx context.Context, c message.Challenge, now time.Time) error {
	err := g.s.write.InsertChallenge(ctx, db.InsertChallengeParams{
		Hash: c.Hash, PublicKey: c.Key, DenpaID: c.DenpaID, AppID: c.AppID, ExpiresAt: c.ExpiresAt, Now: now,
	})
	if err != nil {
		return fmt.Errorf("insert challenge: %w", err)
	}
	return nil
}

// Register implements message.Signers.
func (g Signers) Register(ctx context.Context, s message.Signer, challenge []byte, limit int) error {
	return g.s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		used, err := q.UseChallenge(ctx, db.UseChallengeParams{
			Hash: challenge, PublicKey: s.Key, DenpaID: s.DenpaID, AppID: s.AppID, Now: s.CreatedAt,
		})
		if err != nil {
			return fmt.Errorf("use challenge: %w", err)
		}
		if used == 0 {
			return message.ErrChallenge
		}
		if err := q.LockSignersOfPassport(ctx, db.LockSignersOfPassportParams{DenpaID: s.DenpaID, AppID: s.AppID}); err != nil {
			return fmt.Errorf("lock signers: %w", err)
		}
		if err := insertSigner(ctx, q, s); err != nil {
			return err
		}
		active, err := q.CountSigners(ctx, db.CountSignersParams{DenpaID: s.DenpaID, AppID: s.AppID, Now: s.CreatedAt})
		if err != nil {
			return fmt.Errorf("count signers: %w", err)
		}
		if active > int64(limit) {
			return message.ErrLimit
		}
		return nil
	})
}

// insertSigner inserts a key that was never stored.
func insertSigner(ctx context.Context, q *db.Queries, s message.Signer) error {
	n, err := q.InsertSigner(ctx, db.InsertSignerParams{
		PublicKey: s.Key, DenpaID: s.DenpaID, AppID: pg.Null(s.AppID), GrantID: pg.Null(s.GrantID), Scopes: s.Scopes, Label: s.Label,
		CreatedAt: s.CreatedAt, ExpiresAt: pg.Null(s.ExpiresAt), KeyID: pg.Null(s.KeyID),
	})
	if err != nil {
		return fmt.Errorf("insert signer: %w", err)
	}
	if n == 1 {
		return nil
	}
	row, ok, err := found(q.GetSigner(ctx, s.Key))
	there, _, err := signerIf(row.Signer, ok, err)
	switch {
	case err != nil:
		return err
	case !there.RevokedAt.IsZero():
		return message.ErrSignerRevoked
	}
	return message.ErrSignerExists
}

// List implements message.Signers.
func (g Signers) List(ctx context.Context, denpaID string) ([]message.Signer, error) {
	rows, err := g.s.read.ListSigners(ctx, denpaID)
	if err != nil {
		return nil, fmt.Errorf("list signers: %w", err)
	}
	return pg.Collect(rows, func(row db.ListSignersRow) message.Signer { return signer(row.Signer) }), nil
}

// Revoke implements message.Signers.
func (g Signers) Revoke(ctx context.Context, key message.Key, denpaID, grantID, by string, now time.Time) (out message.Signer, err error) {
	err = g.s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, ok, err := found(q.LockSigner(ctx, key))
		if out, ok, err = signerIf(row.Signer, ok, err); err != nil {
			return err
		}
		if !ok || out.DenpaID != denpaID || grantID != "" && out.GrantID != grantID {
			return message.ErrNotFound
		}
		if !out.RevokedAt.IsZero() {
			return nil
		}
		out.RevokedAt, err = revokeSigner(ctx, q, key, by, now)
		out.RevokedBy = by
		return err
	})
	if err != nil {
		return message.Signer{}, err
	}
	return out, nil
}

// revokeSigner revokes a signer that the transaction has locked.
func revokeSigner(ctx context.Context, q *db.Queries, key message.Key, by string, now time.Time) (time.Time, error) {
	at, err := q.RevokeSigner(ctx, db.RevokeSignerParams{PublicKey: key, RevokedBy: by, Now: now})
	if err != nil {
		return time.Time{}, fmt.Errorf("revoke signer: %w", err)
	}
	return utc(at), nil
}

// RevokeSignersOf revokes every signer of a grant in the transaction that revokes the grant, so that no message is stored
// after it. It returns how many.
func RevokeSignersOf(ctx context.Context, q *db.Queries, grantID string, now time.Time) (int, error) {
	keys, err := q.LockSignersOfGrant(ctx, grantID)
	if err != nil {
		return 0, fmt.Errorf("lock signers of grant: %w", err)
	}
	return len(keys), revokeSigners(ctx, q, keys, "grant", now)
}

func revokeSigners(ctx context.Context, q *db.Queries, keys []message.Key, by string, now time.Time) error {
	for _, key := range keys {
		if _, err := revokeSigner(ctx, q, key, by, now); err != nil {
			return err
		}
	}
	return nil
}

// RevokeOfKey implements message.Signers.
func (g Signers) RevokeOfKey(ctx context.Context, keyID string, now time.Time) (revoked []string, err error) {
	err = g.s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		keys, err := q.LockSignersOfKey(ctx, keyID)
		if err != nil {
			return fmt.Errorf("lock signers of key: %w", err)
		}
		if err := revokeSigners(ctx, q, keys, "key", now); err != nil {
			return err
		}
		keys, err = q.ListSignersRevokedWithKey(ctx, keyID)
		if err != nil {
			return fmt.Errorf("list signers of key: %w", err)
		}
		revoked = words(keys)
		return nil
	})
	return revoked, err
}

// KeysInUse implements message.Signers.
func (g Signers) KeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error) {
	keys, err := g.s.read.ListSignerKeys(ctx, db.ListSignerKeysParams{After: after, Now: now, MaxRows: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list keys of signers: %w", err)
	}
	return keys, nil
}

func signerIf(row db.Signer, ok bool, err error) (message.Signer, bool, error) {
	if err != nil {
		return message.Signer{}, false, fmt.Errorf("read signer: %w", err)
	}
	if !ok {
		return message.Signer{}, false, nil
	}
	return signer(row), true, nil
}

func signer(row db.Signer) message.Signer {
	return message.Signer{
		Key: row.PublicKey, DenpaID: row.DenpaID, AppID: pg.Value(row.AppID), GrantID: pg.Value(row.GrantID), KeyID: pg.Value(row.KeyID),
		Scopes: row.Scopes, Label: row.Label, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: utc(row.ExpiresAt), RevokedAt: utc(row.RevokedAt),
		RevokedBy: pg.Value(row.RevokedBy),
	}
}
