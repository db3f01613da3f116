package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// CreateWebhook stores a new webhook. Faults: limit_reached, not_found.
func (s *Store) CreateWebhook(ctx context.Context, h webhook.Hook) error {
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var locked string
		err := tx.QueryRow(ctx, query("operator_key_lock"), h.OwnerID).Scan(&locked)
		if errors.Is(err, pgx.ErrNoRows) {
			return operator.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("lock operator: %w", err)
		}
		var n int
		if err := tx.QueryRow(ctx, query("webhook_count"), h.OwnerID).Scan(&n); err != nil {
			return fmt.Errorf("count webhooks: %w", err)
		}
		if n >= webhook.MaxHooks {
			return webhook.ErrLimit
		}
		if err := holdKey(ctx, tx, h.KeyID, h.OwnerID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query("webhook_create"), h.ID, h.OwnerID, h.URL, h.Channels, h.Types, h.Description,
			h.CreatedAt, h.Cursor, h.Secret, h.KeyID); err != nil {
			return fmt.Errorf("insert webhook: %w", err)
		}
		return nil
	})
}

// holdKey keeps the key of a request active until the end of the transaction. Fault:
// unauthenticated for a key that is revoked.
func holdKey(ctx context.Context, tx pgx.Tx, keyID, ownerID string) error {
	var active int
	err := tx.QueryRow(ctx, query("webhook_key"), keyID, ownerID).Scan(&active)
	if errors.Is(err, pgx.ErrNoRows) {
		return operator.ErrUnauthenticated
	}
	if err != nil {
		return fmt.Errorf("lock key: %w", err)
	}
	return nil
}

// ListWebhooks lists an operator's webhooks, oldest first.
func (s *Store) ListWebhooks(ctx context.Context, ownerID string) ([]webhook.Hook, error) {
	return s.webhooks(ctx, "webhook_list", ownerID)
}

// ActiveWebhooks lists those of everybody that get deliveries.
func (s *Store) ActiveWebhooks(ctx context.Context) ([]webhook.Hook, error) {
	return s.webhooks(ctx, "webhook_active")
}

func (s *Store) webhooks(ctx context.Context, name string, args ...any) ([]webhook.Hook, error) {
	rows, err := s.pool.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, scanWebhook)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return list, nil
}

// GetWebhook reads one. Fault: not_found.
func (s *Store) GetWebhook(ctx context.Context, ownerID, id string) (webhook.Hook, error) {
	return s.webhook(ctx, "webhook_get", ownerID, id)
}

// ChangeWebhook changes a webhook and records the key that did. Faults: not_found,
// unauthenticated for a key that was revoked meanwhile.
func (s *Store) ChangeWebhook(ctx context.Context, ownerID, id string, c webhook.Change) (h webhook.Hook, err error) {
	restart := c.Channels != nil || c.Types != nil || c.Active != nil && *c.Active
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := holdKey(ctx, tx, c.KeyID, ownerID); err != nil {
			return err
		}
		h, err = oneWebhook(ctx, tx, "webhook_change", ownerID, id, c.Active, c.Channels, c.Types, c.Description, restart, c.Described, c.KeyID)
		return err
	})
	return h, err
}

// RenewWebhook stores the secrets that renew gives it. Fault: not_found.
func (s *Store) RenewWebhook(ctx context.Context, ownerID, id string, renew func(*webhook.Hook)) (webhook.Hook, error) {
	var h webhook.Hook
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if h, err = oneWebhook(ctx, tx, "webhook_hold", ownerID, id); err != nil {
			return err
		}
		renew(&h)
		var until *time.Time
		if h.OldSecret != nil {
			until = &h.OldUntil
		}
		h, err = oneWebhook(ctx, tx, "webhook_renew", ownerID, id, h.Secret, h.OldSecret, until)
		return err
	})
	return h, err
}

// TestWebhook notes a test unless one was made within every. Fault: not_found.
func (s *Store) TestWebhook(ctx context.Context, ownerID, id string, now time.Time, every time.Duration) (webhook.Hook, bool, error) {
	h, err := s.webhook(ctx, "webhook_test", ownerID, id, now, now.Add(-every))
	if !errors.Is(err, webhook.ErrNotFound) {
		return h, err == nil, err
	}
	h, err = s.GetWebhook(ctx, ownerID, id)
	return h, false, err
}

func (s *Store) webhook(ctx context.Context, name string, args ...any) (webhook.Hook, error) {
	return oneWebhook(ctx, s.pool, name, args...)
}

// asker is the pool or a transaction.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func oneWebhook(ctx context.Context, db asker, name string, args ...any) (webhook.Hook, error) {
	rows, err := db.Query(ctx, query(name), args...)
	if err != nil {
		return webhook.Hook{}, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	h, err := pgx.CollectExactlyOneRow(rows, scanWebhook)
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Hook{}, webhook.ErrNotFound
	}
	if err != nil {
		return webhook.Hook{}, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return h, nil
}

func scanWebhook(row pgx.CollectableRow) (webhook.Hook, error) {
	var h webhook.Hook
	var delivery *string
	var through *int64
	var oldUntil, since, next *time.Time
	err := row.Scan(&h.ID, &h.OwnerID, &h.URL, &h.Channels, &h.Types, &h.Description, &h.Active, &h.Reason, &h.CreatedAt, &h.Cursor,
		&h.Revision, &h.Secret, &h.OldSecret, &oldUntil, &delivery, &through, &h.Attempt, &since, &next)
	h.DeliveryID = orEmpty(delivery)
	if through != nil {
		h.Through = *through
	}
	for _, t := range []struct {
		from *time.Time
		to   *time.Time
	}{{oldUntil, &h.OldUntil}, {since, &h.FailingSince}, {next, &h.NextAt}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	return h, err
}

// DeleteWebhook ends it with its log. Fault: not_found.
func (s *Store) DeleteWebhook(ctx context.Context, ownerID, id string) error {
	tag, err := s.pool.Exec(ctx, query("webhook_delete"), ownerID, id)
	if err != nil {
		return pg.Fault(fmt.Errorf("delete webhook: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return webhook.ErrNotFound
	}
	return nil
}
