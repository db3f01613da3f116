package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// FindSigner implements message.Store.
func (s *Store) FindSigner(ctx context.Context, key message.Key) (message.Signer, bool, error) {
	row, ok, err := found(s.read.GetSigner(ctx, key))
	return signer(row.Signer), ok, err
}

// AddChallenge implements message.Store.
func (s *Store) AddChallenge(ctx context.Context, c message.Challenge, now time.Time) error {
	return s.write.InsertChallenge(ctx, db.InsertChallengeParams{
		Hash: c.Hash, PublicKey: c.Key, DenpaID: c.DenpaID, AppID: c.AppID, ExpiresAt: c.ExpiresAt, Now: now,
	})
}

// AddSigner implements message.Store.
func (s *Store) AddSigner(ctx context.Context, one message.Signer, challenge []byte, limit int) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		used, err := q.UseChallenge(ctx, db.UseChallengeParams{
			Hash: challenge, PublicKey: one.Key, DenpaID: one.DenpaID, AppID: one.AppID, Now: one.CreatedAt,
		})
		if err != nil {
			return err
		}
		if used == 0 {
			return message.ErrChallenge
		}
		if err := q.LockSignersOfPassport(ctx, db.LockSignersOfPassportParams{DenpaID: one.DenpaID, AppID: one.AppID}); err != nil {
			return err
		}
		if err := insertSigner(ctx, q, one); err != nil {
			return err
		}
		active, err := q.CountSigners(ctx, db.CountSignersParams{DenpaID: one.DenpaID, AppID: one.AppID, Now: one.CreatedAt})
		if err != nil {
			return err
		}
		if active > int64(limit) {
			return message.ErrLimit
		}
		return notify(ctx, q, accountFact(operator.ID(one.DenpaID), notification.SignerAdded, string(one.Key), one.Label, one.CreatedAt))
	})
}

// insertSigner inserts a signer. If the key has been registered before, it returns message.ErrSignerRevoked or
// message.ErrSignerExists.
func insertSigner(ctx context.Context, q *db.Queries, s message.Signer) error {
	n, err := q.InsertSigner(ctx, db.InsertSignerParams{
		PublicKey: s.Key, DenpaID: s.DenpaID, AppID: pg.Null(s.AppID), GrantID: pg.Null(s.GrantID), Scopes: s.Scopes, Label: s.Label,
		CreatedAt: s.CreatedAt, ExpiresAt: pg.Null(s.ExpiresAt), KeyID: pg.Null(s.KeyID),
	})
	if err != nil {
		return err
	}
	if n == 1 {
		return nil
	}
	row, _, err := found(q.GetSigner(ctx, s.Key))
	switch {
	case err != nil:
		return err
	case row.Signer.RevokedAt != nil:
		return message.ErrSignerRevoked
	}
	return message.ErrSignerExists
}

// ListSigners implements message.Store.
func (s *Store) ListSigners(ctx context.Context, denpaID string) ([]message.Signer, error) {
	rows, err := s.read.ListSigners(ctx, denpaID)
	return pg.Collect(rows, func(row db.ListSignersRow) message.Signer { return signer(row.Signer) }), err
}

// RevokeSigner implements message.Store.
func (s *Store) RevokeSigner(ctx context.Context, key message.Key, denpaID, grantID, by string, now time.Time) (out message.Signer, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, ok, err := found(q.LockSigner(ctx, key))
		if err != nil {
			return err
		}
		out = signer(row.Signer)
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
	return out, err
}

// revokeSigner revokes a signer that the transaction has locked. It returns the stored time of the revocation.
func revokeSigner(ctx context.Context, q *db.Queries, key message.Key, by string, now time.Time) (time.Time, error) {
	at, err := q.RevokeSigner(ctx, db.RevokeSignerParams{PublicKey: key, RevokedBy: by, Now: now})
	return utc(at), err
}

// RevokeSignersOf revokes all signers of a grant and returns the number of signers that it locked. It must run in the
// transaction that revokes the grant, so that no message of the signers is stored after the revocation.
func RevokeSignersOf(ctx context.Context, q *db.Queries, grantID string, now time.Time) (int, error) {
	keys, err := q.LockSignersOfGrant(ctx, grantID)
	if err != nil {
		return 0, err
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

// RevokeSignersOfKey implements message.Store.
func (s *Store) RevokeSignersOfKey(ctx context.Context, keyID string, now time.Time) (revoked []string, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		keys, err := q.LockSignersOfKey(ctx, keyID)
		if err != nil {
			return err
		}
		if err := revokeSigners(ctx, q, keys, "key", now); err != nil {
			return err
		}
		keys, err = q.ListSignersRevokedWithKey(ctx, keyID)
		revoked = words(keys)
		return err
	})
	return revoked, err
}

// ListKeysInUse implements message.Store.
func (s *Store) ListKeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error) {
	return s.read.ListSignerKeys(ctx, db.ListSignerKeysParams{After: after, Now: now, MaxRows: int32(limit)})
}

func signer(row db.Signer) message.Signer {
	return message.Signer{
		Key: row.PublicKey, DenpaID: row.DenpaID, AppID: pg.Value(row.AppID), GrantID: pg.Value(row.GrantID), KeyID: pg.Value(row.KeyID),
		Scopes: row.Scopes, Label: row.Label, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: utc(row.ExpiresAt), RevokedAt: utc(row.RevokedAt),
		RevokedBy: pg.Value(row.RevokedBy),
	}
}
