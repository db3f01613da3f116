package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// FindByIdentity reads the operator of (issuer, subject), nil when there is none.
func (s *Store) FindByIdentity(ctx context.Context, issuer, subject string) (*operator.Operator, error) {
	return findOperator(ctx, s.pool, "operator_by_identity", issuer, subject)
}

// CreateOperator inserts an operator; nil tells that the handle is taken.
func (s *Store) CreateOperator(ctx context.Context, o operator.Operator) (*operator.Operator, error) {
	made, err := findOperator(ctx, s.pool, "operator_create", o.ID, o.Issuer, o.ProviderID, o.PublicID, o.Handle, o.DisplayName, o.CreatedAt)
	if err != nil || made != nil {
		return made, err
	}
	return s.FindByIdentity(ctx, o.Issuer, o.ProviderID)
}

// GetOperator reads by handle, or by id when the handle is empty. Fault: not_found.
func (s *Store) GetOperator(ctx context.Context, handle, id string) (operator.Operator, error) {
	var uuid *string
	if handle == "" {
		uuid = &id
	}
	o, err := findOperator(ctx, s.reads, "operator_get", handle, uuid)
	if err != nil {
		return operator.Operator{}, err
	}
	if o == nil {
		return operator.Operator{}, operator.ErrNotFound
	}
	return *o, nil
}

// Classify changes what an operator is. Fault: not_found.
func (s *Store) Classify(ctx context.Context, handle string, kind *syntax.OperatorType, house *bool, actor string, now time.Time) (operator.Operator, error) {
	var o operator.Operator
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var step int
		err := tx.QueryRow(ctx, query("operator_classify"), handle, kind, house, actor, now).Scan(append(operatorFields(&o), &step)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return operator.ErrNotFound
		}
		if err != nil || step == 0 {
			return err
		}
		_, err = tx.Exec(ctx, query("operator_crowd"), o.ID, step, now)
		return err
	})
	return o, err
}

// MintKey stores a new key. Faults: key_limit_reached, not_found.
func (s *Store) MintKey(ctx context.Context, operatorID string, k operator.Key, hash []byte) error {
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var locked string
		err := tx.QueryRow(ctx, query("operator_key_lock"), operatorID).Scan(&locked)
		if errors.Is(err, pgx.ErrNoRows) {
			return operator.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("lock operator: %w", err)
		}
		var active int
		if err := tx.QueryRow(ctx, query("operator_key_count"), operatorID).Scan(&active); err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		if active >= operator.MaxKeys {
			return operator.ErrKeyLimit
		}
		if _, err := tx.Exec(ctx, query("operator_key_mint"), k.ID, operatorID, hash, k.Prefix, k.Last4, k.Label,
			k.Tier, k.Permissions, k.CreatedAt, k.Strict); err != nil {
			return fmt.Errorf("insert key: %w", err)
		}
		return nil
	})
}

// RevokeKey revokes a key of the operator and deactivates the webhooks that were made with
// it; it returns their ids. Fault: not_found.
func (s *Store) RevokeKey(ctx context.Context, operatorID, keyID string, now time.Time) (k operator.Key, webhooks []string, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query("operator_key_revoke"), operatorID, keyID, now)
		if err != nil {
			return fmt.Errorf("revoke key: %w", err)
		}
		k, err = pgx.CollectExactlyOneRow(rows, scanKey)
		if errors.Is(err, pgx.ErrNoRows) {
			return operator.ErrKeyNotFound
		}
		if err != nil {
			return fmt.Errorf("revoke key: %w", err)
		}
		// A statement after the key's lock: it sees every webhook that the key made.
		if webhooks, err = db.New(tx).DeactivateWebhooksOfKey(ctx, &keyID); err != nil {
			return fmt.Errorf("deactivate webhooks of key: %w", err)
		}
		return nil
	})
	return k, webhooks, err
}

// RevokedKeys returns which of these keys are revoked or unknown.
func (s *Store) RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error) {
	rows, err := s.pool.Query(ctx, query("operator_key_revoked"), keyIDs)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list revoked keys: %w", err))
	}
	revoked, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return revoked, pg.Fault(err)
}

// EndSessions raises the session version of an operator and returns the new one.
// Fault: not_found.
func (s *Store) EndSessions(ctx context.Context, operatorID string, now time.Time) (version int64, err error) {
	err = s.pool.QueryRow(ctx, query("operator_end_sessions"), operatorID, now).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, operator.ErrNotFound
	}
	return version, pg.Fault(err)
}

// ListKeys lists an operator's keys, newest first.
func (s *Store) ListKeys(ctx context.Context, operatorID string) ([]operator.Key, error) {
	rows, err := s.pool.Query(ctx, query("operator_key_list"), operatorID)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list keys: %w", err))
	}
	keys, err := pgx.CollectRows(rows, scanKey)
	return keys, pg.Fault(err)
}

// VerifyKey tells whose active key has this hash. Fault: unauthenticated.
func (s *Store) VerifyKey(ctx context.Context, hash []byte, now time.Time) (operator.Operator, operator.Key, error) {
	var o operator.Operator
	var k operator.Key
	err := s.reads.QueryRow(ctx, query("operator_key_verify"), hash, now).Scan(append(operatorFields(&o), keyFields(&k)...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, k, operator.ErrUnauthenticated
	}
	if err != nil {
		return o, k, pg.Fault(fmt.Errorf("verify key: %w", err))
	}
	return o, k, nil
}

func findOperator(ctx context.Context, from queryer, name string, args ...any) (*operator.Operator, error) {
	var o operator.Operator
	err := from.QueryRow(ctx, query(name), args...).Scan(operatorFields(&o)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return &o, nil
}

func operatorFields(o *operator.Operator) []any {
	return []any{
		&o.ID, &o.Issuer, &o.ProviderID, &o.PublicID, &o.Handle, &o.DisplayName, &o.AvatarURL, &o.Type,
		&o.Tier, &o.SessionVersion, &o.CreatedAt, &o.Bio, &o.Links, &o.PayoutAddress,
	}
}

func keyFields(k *operator.Key) []any {
	return []any{&k.ID, &k.Label, &k.Tier, &k.Permissions, &k.Active, &k.LastUsedAt, &k.CreatedAt, &k.Prefix, &k.Last4, &k.Strict}
}

func scanKey(row pgx.CollectableRow) (operator.Key, error) {
	var k operator.Key
	err := row.Scan(keyFields(&k)...)
	return k, err
}
