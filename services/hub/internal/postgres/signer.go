package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// Signers keeps the keys that sign messages, and challenges for new ones.
type Signers struct{ s *Store }

// Signers is the store's part for signers.
func (s *Store) Signers() Signers { return Signers{s} }

// Find implements message.Signers.
func (g Signers) Find(ctx context.Context, key message.Key) (message.Signer, bool, error) {
	return foundSigner(g.s.read.QueryRow(ctx, query("signer_get"), string(key)))
}

// Challenge implements message.Signers.
func (g Signers) Challenge(ctx context.Context, c message.Challenge, now time.Time) error {
	_, err := g.s.db.Exec(ctx, query("signer_challenge_add"), c.Hash, string(c.Key), c.DenpaID, c.AppID, c.ExpiresAt, now)
	if err != nil {
		return fmt.Errorf("insert challenge: %w", err)
	}
	return nil
}

// Register implements message.Signers.
func (g Signers) Register(ctx context.Context, s message.Signer, challenge []byte, limit int) error {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	return pg.InTx(ctx, g.s.db.Pool(), func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, query("signer_challenge_use"), challenge, string(s.Key), s.DenpaID, s.AppID, s.CreatedAt)
		if err != nil {
			return fmt.Errorf("use challenge: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return message.ErrChallenge
		}
		if _, err := tx.Exec(ctx, query("signer_turn"), s.DenpaID, s.AppID); err != nil {
			return fmt.Errorf("wait for other registrations: %w", err)
		}
		if err := addSigner(ctx, tx, s); err != nil {
			return err
		}
		var active int
		if err := tx.QueryRow(ctx, query("signer_count"), s.DenpaID, s.AppID, s.CreatedAt).Scan(&active); err != nil {
			return fmt.Errorf("count signers: %w", err)
		}
		if active > limit {
			return message.ErrLimit
		}
		return nil
	})
}

// addSigner inserts a key that never was there.
func addSigner(ctx context.Context, tx pgx.Tx, s message.Signer) error {
	tag, err := tx.Exec(ctx, query("signer_add"), string(s.Key), s.DenpaID, s.AppID, s.GrantID, s.Scopes, s.Label, s.CreatedAt, timeOrNull(s.ExpiresAt), s.KeyID)
	if err != nil {
		return fmt.Errorf("insert signer: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	there, _, err := foundSigner(tx.QueryRow(ctx, query("signer_get"), string(s.Key)))
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
	rows, err := g.s.read.Query(ctx, query("signer_list"), denpaID)
	if err != nil {
		return nil, fmt.Errorf("list signers: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (message.Signer, error) { return scanSigner(row) })
	if err != nil {
		return nil, fmt.Errorf("list signers: %w", err)
	}
	return out, nil
}

// Revoke implements message.Signers.
func (g Signers) Revoke(ctx context.Context, key message.Key, denpaID, grantID, by string, now time.Time) (out message.Signer, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err = pg.InTx(ctx, g.s.db.Pool(), func(tx pgx.Tx) error {
		var found bool
		if out, found, err = foundSigner(tx.QueryRow(ctx, query("signer_lock"), string(key))); err != nil {
			return err
		}
		if !found || out.DenpaID != denpaID || grantID != "" && out.GrantID != grantID {
			return message.ErrNotFound
		}
		if !out.RevokedAt.IsZero() {
			return nil
		}
		out.RevokedAt, err = revokeSigner(ctx, tx, key, by, now)
		out.RevokedBy = by
		return err
	})
	if err != nil {
		return message.Signer{}, err
	}
	return out, nil
}

// revokeSigner revokes a signer whose row the transaction has locked.
func revokeSigner(ctx context.Context, tx pgx.Tx, key message.Key, by string, now time.Time) (time.Time, error) {
	var at time.Time
	if err := tx.QueryRow(ctx, query("signer_revoke"), string(key), now, by).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("revoke signer: %w", err)
	}
	return at.UTC(), nil
}

// RevokeSignersOf revokes every signer of a grant inside the transaction that
// ends the grant, so that no message is taken after it.
func RevokeSignersOf(ctx context.Context, tx pgx.Tx, grantID string, now time.Time) (int, error) {
	return revokeSigners(ctx, tx, "signer_lock_grant", grantID, "grant", now)
}

// revokeSigners revokes the signers that a statement locks, and returns how many.
func revokeSigners(ctx context.Context, tx pgx.Tx, lock, id, by string, now time.Time) (int, error) {
	rows, err := tx.Query(ctx, query(lock), id)
	if err != nil {
		return 0, fmt.Errorf("lock signers of %s: %w", by, err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("lock signers of %s: %w", by, err)
	}
	for _, key := range keys {
		if _, err := revokeSigner(ctx, tx, message.Key(key), by, now); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}

// RevokeOfKey implements message.Signers.
func (g Signers) RevokeOfKey(ctx context.Context, keyID string, now time.Time) (revoked []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err = pg.InTx(ctx, g.s.db.Pool(), func(tx pgx.Tx) error {
		if _, err := revokeSigners(ctx, tx, "signer_lock_key", keyID, "key", now); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, query("signer_of_key"), keyID)
		if err != nil {
			return fmt.Errorf("list signers of key: %w", err)
		}
		if revoked, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return fmt.Errorf("list signers of key: %w", err)
		}
		return nil
	})
	return revoked, err
}

// KeysInUse implements message.Signers.
func (g Signers) KeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error) {
	rows, err := g.s.read.Query(ctx, query("signer_keys"), after, now, limit)
	if err != nil {
		return nil, fmt.Errorf("list keys of signers: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list keys of signers: %w", err)
	}
	return keys, nil
}

// foundSigner reads a row that may not be there.
func foundSigner(row pgx.Row) (message.Signer, bool, error) {
	s, err := scanSigner(row)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return message.Signer{}, false, nil
	case err != nil:
		return message.Signer{}, false, fmt.Errorf("read signer: %w", err)
	}
	return s, true, nil
}

func scanSigner(row pgx.Row) (message.Signer, error) {
	var s message.Signer
	var expires, revoked *time.Time
	err := row.Scan((*string)(&s.Key), &s.DenpaID, &s.AppID, &s.GrantID, &s.KeyID, &s.Scopes, &s.Label, &s.CreatedAt, &expires, &revoked, &s.RevokedBy)
	s.CreatedAt = s.CreatedAt.UTC()
	if expires != nil {
		s.ExpiresAt = expires.UTC()
	}
	if revoked != nil {
		s.RevokedAt = revoked.UTC()
	}
	return s, err
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
