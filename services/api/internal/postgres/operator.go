package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// FindByIdentity returns the operator with an identity, or nil if there is none. issuer is the identity provider, and
// subject is the id of the identity at that provider.
func (s *Store) FindByIdentity(ctx context.Context, issuer, subject string) (*operator.Operator, error) {
	row, err := s.q.GetOperatorByIdentity(ctx, db.GetOperatorByIdentityParams{Issuer: issuer, ProviderID: subject})
	if err != nil {
		return nil, missing(err, nil, "read operator")
	}
	o := operatorOf(row.User)
	return &o, nil
}

// handleKey is the constraint that handles violate which another operator has or had.
const handleKey = "users_handle_key"

// CreateOperator inserts an operator and returns it. If the identity already has an operator, it returns that operator. It
// returns nil if another operator has or had the handle.
func (s *Store) CreateOperator(ctx context.Context, o operator.Operator) (*operator.Operator, error) {
	if err := s.q.InsertOperator(ctx, insertParams(o)); err != nil && !pg.IsUnique(err, handleKey) {
		return nil, pg.Fault(fmt.Errorf("insert operator: %w", err))
	}
	return s.FindByIdentity(ctx, o.Issuer, o.ProviderID)
}

func insertParams(o operator.Operator) db.InsertOperatorParams {
	return db.InsertOperatorParams{
		ID: o.ID, Issuer: o.Issuer, ProviderID: o.ProviderID, PublicID: o.PublicID, Handle: o.Handle, DisplayName: o.DisplayName,
		CreatedAt: o.CreatedAt, Former: neverNil(o.Former),
	}
}

// ChangeHandle implements operator.Store.
func (s *Store) ChangeHandle(ctx context.Context, operatorID, handle string, first bool, now time.Time) error {
	err := inTx(ctx, s.pool, func(q *db.Queries) error {
		o, err := q.LockHandle(ctx, operatorID)
		if err != nil {
			return missing(err, operator.ErrNotFound, "lock operator")
		}
		same := handle == "" || handle == o.Handle
		switch {
		case first && (o.HandleChosenAt != nil || now.Sub(o.CreatedAt) > protocol.HandleChoice):
			return operator.ErrHandleChosen
		case !first && same:
			return nil
		case !first && o.HandleChangedAt != nil && now.Sub(*o.HandleChangedAt) < protocol.HandlePeriod:
			return operator.ErrHandleChanged.With("possibleAt", protocol.Stamp(o.HandleChangedAt.Add(protocol.HandlePeriod)))
		}
		if !same {
			p := db.ChangeHandleParams{UserID: operatorID, Handle: handle, Until: now.Add(operator.FormerHandlePeriod)}
			if err := q.ChangeHandle(ctx, p); err != nil {
				return fmt.Errorf("change handle: %w", err)
			}
		}
		return wrap("store time of handle", q.MarkHandle(ctx, db.MarkHandleParams{UserID: operatorID, First: first, Now: now}))
	})
	if pg.IsUnique(err, handleKey) {
		return operator.ErrHandleTaken
	}
	return err
}

// GetOperator returns an operator by present or former handle, or by id if the handle is empty. Error: not_found.
func (s *Store) GetOperator(ctx context.Context, handle, id string) (operator.Operator, error) {
	return getOperator(ctx, s.rq, handle, id)
}

// FindOperators returns operators whose handle or display name begins with prefix, which is in lower case. The operator with this
// handle is first, then those with the most calls. Error: db_unavailable.
func (s *Store) FindOperators(ctx context.Context, prefix string, limit int) ([]operator.Operator, error) {
	rows, err := s.rq.FindOperators(ctx, db.FindOperatorsParams{
		Prefix: prefix, Beyond: prefix + string(utf8.MaxRune), Most: int32(limit),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("find operators: %w", err))
	}
	out := make([]operator.Operator, 0, len(rows))
	for _, row := range rows {
		out = append(out, operatorOf(row.User))
	}
	return out, nil
}

// ListOperatorsByID returns operators by id, in no order. It omits unknown ids.
func (s *Store) ListOperatorsByID(ctx context.Context, ids []string) ([]operator.Operator, error) {
	rows, err := s.rq.ListOperatorsByID(ctx, neverNil(ids))
	list := pg.Collect(rows, func(r db.ListOperatorsByIDRow) operator.Operator { return operatorOf(r.User) })
	return list, pg.Fault(wrap("list operators", err))
}

func getOperator(ctx context.Context, q *db.Queries, handle, id string) (operator.Operator, error) {
	p := db.GetOperatorParams{Handle: handle}
	if handle == "" {
		p.ID = &id
	}
	row, err := q.GetOperator(ctx, p)
	return operatorOf(row.User), missing(err, operator.ErrNotFound, "read operator")
}

// Classify changes the class of an operator and returns the changed operator. A nil field of c leaves that property unchanged.
// If profile is not nil and its handle is free, Classify stores profile first. If the operator joins or leaves the crowd,
// Classify also updates the crowd of each market with a call of the operator. Errors: not_found, handle_taken if another
// identity has the handle of profile, invalid_operator_type.
func (s *Store) Classify(ctx context.Context, c operator.Class, profile *operator.Operator, now time.Time) (operator.Operator, error) {
	var o operator.Operator
	err := inTx(ctx, s.pool, func(q *db.Queries) error {
		if profile != nil {
			if err := q.InsertOperator(ctx, insertParams(*profile)); err != nil {
				return fmt.Errorf("insert profile: %w", err)
			}
		}
		changed, err := q.ClassifyOperator(ctx, db.ClassifyOperatorParams{
			Handle: c.Handle, OperatorType: (*string)(c.Type), IsHouse: c.House, Seeded: c.Seeded, KeyTier: c.KeyTier,
			Actor: c.Actor, Now: now,
		})
		if err != nil {
			return missing(err, operator.ErrNotFound, "classify operator")
		}
		if o, err = getOperator(ctx, q, "", changed.ID); err != nil {
			return err
		}
		switch {
		case profile != nil && o.Issuer != profile.Issuer:
			return operator.ErrHandleTaken
		case o.Seeded && o.Type != protocol.SystemBot:
			return operator.ErrSeededType
		}
		if c.KeyTier != nil {
			if err := q.SetKeyTier(ctx, db.SetKeyTierParams{UserID: o.ID, Tier: *c.KeyTier}); err != nil {
				return fmt.Errorf("set tier of keys: %w", err)
			}
		}
		if changed.Step == 0 {
			return nil
		}
		return q.MoveCrowd(ctx, db.MoveCrowdParams{UserID: o.ID, Step: changed.Step, Now: now})
	})
	return o, err
}

// MintKey stores a new API key of an operator and returns its tier, which is that of the operator. Errors: not_found if the
// operator does not exist, key_limit_reached if it has operator.MaxKeys active keys.
func (s *Store) MintKey(ctx context.Context, operatorID string, k operator.Key, hash []byte) (tier string, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := lockOperator(ctx, q, operatorID); err != nil {
			return err
		}
		active, err := q.CountActiveKeys(ctx, operatorID)
		if err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		if active >= operator.MaxKeys {
			return operator.ErrKeyLimit
		}
		tier, err = q.InsertKey(ctx, db.InsertKeyParams{
			ID: k.ID, UserID: operatorID, Hash: hash, Prefix: k.Prefix, Last4: k.Last4, Label: k.Label,
			Permissions: k.Permissions, CreatedAt: k.CreatedAt, Strict: k.Strict,
		})
		return wrap("insert key", err)
	})
	return tier, err
}

// lockOperator locks an operator until the end of the transaction. Error: not_found.
func lockOperator(ctx context.Context, q *db.Queries, operatorID string) error {
	_, err := q.LockOperator(ctx, operatorID)
	return missing(err, operator.ErrNotFound, "lock operator")
}

// RevokeKey revokes an API key of an operator and deactivates the webhooks that were created or last changed with the key.
// It returns the revoked key and the ids of these webhooks. Error: not_found if the operator has no such key.
func (s *Store) RevokeKey(ctx context.Context, operatorID, keyID string, now time.Time) (k operator.Key, webhooks []string, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		row, err := q.RevokeKey(ctx, db.RevokeKeyParams{ID: keyID, UserID: operatorID, Now: &now})
		if err != nil {
			return missing(err, operator.ErrKeyNotFound, "revoke key")
		}
		k = keyOf(row.OperatorKey)
		// The statement above locks the key until the end of the transaction, so this statement sees every webhook that was
		// created with the key.
		if webhooks, err = q.DeactivateWebhooksOfKey(ctx, &keyID); err != nil {
			return fmt.Errorf("deactivate webhooks of key: %w", err)
		}
		return nil
	})
	return k, webhooks, err
}

// RevokedKeys returns the ids in keyIDs whose API key is revoked or does not exist.
func (s *Store) RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error) {
	revoked, err := s.q.ListRevokedKeys(ctx, keyIDs)
	return revoked, pg.Fault(wrap("list revoked keys", err))
}

// EndSessions increments the session version of an operator and returns the new version. Sessions with an older version are
// then invalid. Error: not_found.
func (s *Store) EndSessions(ctx context.Context, operatorID string, now time.Time) (version int64, err error) {
	version, err = s.q.EndSessions(ctx, db.EndSessionsParams{UserID: operatorID, Now: now})
	return version, missing(err, operator.ErrNotFound, "end sessions")
}

// CloseAccount implements operator.Store.
func (s *Store) CloseAccount(ctx context.Context, operatorID string, open bool, now time.Time) error {
	if open {
		reopened, err := s.q.ReopenAccount(ctx, db.ReopenAccountParams{UserID: operatorID, Now: now, Since: now.Add(-protocol.DeletionWait)})
		if err == nil && !reopened {
			return operator.ErrNotFound
		}
		return pg.Fault(wrap("open account", err))
	}
	_, err := s.q.CloseAccount(ctx, db.CloseAccountParams{UserID: operatorID, Now: now})
	return missing(err, operator.ErrNotFound, "close account")
}

// EraseAccount implements operator.Store.
func (s *Store) EraseAccount(ctx context.Context, operatorID string, now time.Time) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := q.EraseReferences(ctx, operatorID); err != nil {
			return pg.Fault(fmt.Errorf("erase references to account: %w", err))
		}
		erased, err := q.EraseAccount(ctx, db.EraseAccountParams{UserID: operatorID, Now: now})
		if err == nil && !erased {
			return operator.ErrNotFound
		}
		return pg.Fault(wrap("erase account", err))
	})
}

// ListClosing implements operator.Store.
func (s *Store) ListClosing(ctx context.Context, before time.Time) ([]operator.Operator, error) {
	rows, err := s.q.ListClosing(ctx, before)
	return pg.Collect(rows, func(r db.ListClosingRow) operator.Operator { return operatorOf(r.User) }), pg.Fault(wrap("list closed accounts", err))
}

// ListNotices implements operator.Store.
func (s *Store) ListNotices(ctx context.Context, after int64, limit int) ([]operator.Notice, error) {
	rows, err := s.q.ListNotices(ctx, db.ListNoticesParams{After: after, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.Notice) operator.Notice {
		return operator.Notice{ID: r.ID, OperatorID: r.UserID, Kind: r.Kind, Key: r.Key, Text: r.Text, At: r.At.UTC()}
	}), pg.Fault(wrap("list notices", err))
}

// FindErased implements operator.Store.
func (s *Store) FindErased(ctx context.Context, publicID string) (operator.Erased, error) {
	row, err := s.q.FindErased(ctx, publicID)
	if errors.Is(err, pgx.ErrNoRows) {
		return operator.Erased{}, nil
	}
	return operator.Erased{ID: row.ID, At: row.ErasedAt}, pg.Fault(wrap("find erased account", err))
}

// ListKeys returns the API keys of an operator, newest first, including revoked keys.
func (s *Store) ListKeys(ctx context.Context, operatorID string) ([]operator.Key, error) {
	rows, err := s.q.ListKeys(ctx, operatorID)
	return pg.Collect(rows, func(r db.ListKeysRow) operator.Key { return keyOf(r.OperatorKey) }), pg.Fault(wrap("list keys", err))
}

// VerifyKey returns the API key with the given hash and its operator. Error: unauthenticated if there is no active key, with the
// reason revoked if there is a revoked one.
func (s *Store) VerifyKey(ctx context.Context, hash []byte, now time.Time) (operator.Operator, operator.Key, error) {
	row, err := s.rq.VerifyKey(ctx, db.VerifyKeyParams{Hash: hash, Now: now})
	if err == nil && row.OperatorKey.RevokedAt != nil {
		return operator.Operator{}, operator.Key{}, operator.ErrRevoked
	}
	return operatorOf(row.User), keyOf(row.OperatorKey), missing(err, operator.ErrUnauthenticated, "verify key")
}

func operatorOf(u db.User) operator.Operator {
	return operator.Operator{
		ID: u.ID, Issuer: u.Issuer, ProviderID: u.ProviderID, PublicID: u.PublicID, Handle: u.Handle, DisplayName: u.DisplayName,
		AvatarURL: u.AvatarURL, Type: u.OperatorType, Tier: u.Tier, SessionVersion: u.SessionVersion, CreatedAt: u.CreatedAt,
		Bio: u.Bio, Links: u.Links, PayoutAddress: u.PayoutAddress, Seeded: u.Seeded, KeyTier: u.KeyTier,
		ClosingAt: u.ClosingAt, ChosenAt: u.HandleChosenAt, ChangedAt: u.HandleChangedAt,
	}
}

func keyOf(k db.OperatorKey) operator.Key {
	return operator.Key{
		ID: k.ID, Label: k.Label, Tier: k.Tier, Permissions: k.Permissions, Active: k.RevokedAt == nil, LastUsedAt: k.LastUsedAt,
		CreatedAt: k.CreatedAt, Prefix: k.Prefix, Last4: k.Last4, Strict: k.Strict,
	}
}
