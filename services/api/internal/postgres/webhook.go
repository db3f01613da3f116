package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// CreateWebhook stores a new webhook. Errors: not_found for an unknown operator, limit_reached if the operator has
// webhook.MaxHooks webhooks, and unauthenticated if the API key of the request is revoked.
func (s *Store) CreateWebhook(ctx context.Context, h webhook.Hook) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := lockOperator(ctx, q, h.OwnerID); err != nil {
			return err
		}
		n, err := q.CountWebhooks(ctx, h.OwnerID)
		if err != nil {
			return fmt.Errorf("count webhooks: %w", err)
		}
		if n >= webhook.MaxHooks {
			return webhook.ErrLimit
		}
		if err := lockActiveKey(ctx, q, h.KeyID, h.OwnerID); err != nil {
			return err
		}
		err = q.InsertWebhook(ctx, db.InsertWebhookParams{
			ID: h.ID, UserID: h.OwnerID, URL: h.URL, Channels: h.Channels, Types: h.Types, Description: h.Description,
			CreatedAt: h.CreatedAt, Taken: h.Cursor, Secret: h.Secret, KeyID: &h.KeyID,
		})
		return wrap("insert webhook", err)
	})
}

// lockActiveKey locks the API key of a request, so that the key remains active until the end of the transaction. Error:
// unauthenticated if the key is revoked.
func lockActiveKey(ctx context.Context, q *db.Queries, keyID, ownerID string) error {
	_, err := q.LockActiveKey(ctx, db.LockActiveKeyParams{KeyID: keyID, UserID: ownerID})
	return missing(err, operator.ErrUnauthenticated, "lock key")
}

// ListWebhooks returns the webhooks of an operator, oldest first.
func (s *Store) ListWebhooks(ctx context.Context, ownerID string) ([]webhook.Hook, error) {
	rows, err := s.q.ListWebhooks(ctx, ownerID)
	return pg.Collect(rows, func(r db.ListWebhooksRow) webhook.Hook {
		return hookOf(r.Webhook)
	}), pg.Fault(wrap("list webhooks", err))
}

// ActiveWebhooks returns the active webhooks of all operators. Only active webhooks receive deliveries.
func (s *Store) ActiveWebhooks(ctx context.Context) ([]webhook.Hook, error) {
	rows, err := s.q.ListActiveWebhooks(ctx)
	return pg.Collect(rows, func(r db.ListActiveWebhooksRow) webhook.Hook {
		return hookOf(r.Webhook)
	}), pg.Fault(wrap("list active webhooks", err))
}

// GetWebhook returns a webhook of an operator by id. Error: not_found.
func (s *Store) GetWebhook(ctx context.Context, ownerID, id string) (webhook.Hook, error) {
	row, err := s.q.GetWebhook(ctx, db.GetWebhookParams{UserID: ownerID, ID: id})
	return hookOf(row.Webhook), missing(err, webhook.ErrNotFound, "read webhook")
}

// ChangeWebhook applies the changes in c to a webhook, and stores the API key of the request as the key of the webhook.
// Errors: not_found, and unauthenticated if the API key was revoked in the meantime.
func (s *Store) ChangeWebhook(ctx context.Context, ownerID, id string, c webhook.Change) (h webhook.Hook, err error) {
	restart := c.Channels != nil || c.Types != nil || c.Active != nil && *c.Active
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := lockActiveKey(ctx, q, c.KeyID, ownerID); err != nil {
			return err
		}
		row, err := q.ChangeWebhook(ctx, db.ChangeWebhookParams{
			UserID: ownerID, ID: id, Active: c.Active, Channels: texts(c.Channels), Types: texts(pg.Value(c.Types)),
			Described: c.Described, Description: c.Description, Restart: restart, KeyID: &c.KeyID,
		})
		h = hookOf(row.Webhook)
		return missing(err, webhook.ErrNotFound, "change webhook")
	})
	return h, err
}

// RenewWebhook locks a webhook, passes it to the function renew, and stores the secrets that renew has set. Error:
// not_found.
func (s *Store) RenewWebhook(ctx context.Context, ownerID, id string, renew func(*webhook.Hook)) (h webhook.Hook, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		old, err := q.LockWebhook(ctx, db.LockWebhookParams{UserID: ownerID, ID: id})
		if err != nil {
			return missing(err, webhook.ErrNotFound, "lock webhook")
		}
		h = hookOf(old.Webhook)
		renew(&h)
		var until *time.Time
		if h.OldSecret != nil {
			until = &h.OldUntil
		}
		row, err := q.RenewWebhook(ctx, db.RenewWebhookParams{
			UserID: ownerID, ID: id, Secret: h.Secret, OldSecret: h.OldSecret, OldUntil: until,
		})
		h = hookOf(row.Webhook)
		return missing(err, webhook.ErrNotFound, "renew webhook")
	})
	return h, err
}

// TestWebhook stores now as the time of a test delivery and returns true. If less than the duration every has passed since
// the last test, it stores nothing and returns false. Error: not_found.
func (s *Store) TestWebhook(ctx context.Context, ownerID, id string, now time.Time, every time.Duration) (webhook.Hook, bool, error) {
	before := now.Add(-every)
	row, err := s.q.MarkWebhookTested(ctx, db.MarkWebhookTestedParams{UserID: ownerID, ID: id, Now: &now, Before: &before})
	if !errors.Is(err, pgx.ErrNoRows) {
		return hookOf(row.Webhook), err == nil, pg.Fault(wrap("mark webhook tested", err))
	}
	h, err := s.GetWebhook(ctx, ownerID, id)
	return h, false, err
}

// ResendDelivery clears the time of the next attempt of a pending delivery, so that the attempt is due. Errors: not_found for an
// unknown webhook or delivery; delivery_not_pending; rate_limited if an attempt of the webhook ended in the duration every before
// now.
func (s *Store) ResendDelivery(
	ctx context.Context, ownerID, id, deliveryID string, now time.Time, every time.Duration,
) (webhook.Hook, error) {
	row, err := s.q.ResendDelivery(ctx, db.ResendDeliveryParams{
		UserID: ownerID, ID: id, DeliveryID: deliveryID, Before: now.Add(-every),
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return hookOf(row.Webhook), pg.Fault(wrap("resend delivery", err))
	}
	h, err := s.GetWebhook(ctx, ownerID, id)
	switch {
	case err != nil:
		return h, err
	case strings.EqualFold(h.DeliveryID, deliveryID) && h.Active:
		return h, webhook.ErrResentTooSoon.With("retryAfterMs", every.Milliseconds())
	case strings.EqualFold(h.DeliveryID, deliveryID):
		return h, webhook.ErrNotPending("inactive")
	}
	last, err := s.q.GetLastAttempt(ctx, db.GetLastAttemptParams{WebhookID: id, DeliveryID: deliveryID})
	switch {
	case err != nil:
		return h, missing(err, webhook.ErrNoDelivery, "read delivery")
	case last.Events == 0:
		return h, webhook.ErrNotPending("test")
	case last.Error == "":
		return h, webhook.ErrNotPending("accepted")
	}
	return h, webhook.ErrNotPending("replaced")
}

// DeleteWebhook deletes a webhook and its delivery log. Error: not_found.
func (s *Store) DeleteWebhook(ctx context.Context, ownerID, id string) error {
	n, err := s.q.DeleteWebhook(ctx, db.DeleteWebhookParams{UserID: ownerID, ID: id})
	if err != nil {
		return pg.Fault(fmt.Errorf("delete webhook: %w", err))
	}
	if n == 0 {
		return webhook.ErrNotFound
	}
	return nil
}

// BeginDelivery stores that a delivery is about to be sent and returns the stored webhook. after is the sequence number
// before the first event of the delivery. BeginDelivery returns false if the webhook was deleted, deactivated or changed, or
// if another process has already begun the same attempt or advanced the cursor past after.
func (s *Store) BeginDelivery(ctx context.Context, h webhook.Hook, after int64) (webhook.Hook, bool, error) {
	row, err := s.q.BeginDelivery(ctx, db.BeginDeliveryParams{
		ID: h.ID, Revision: int32(h.Revision), DeliveryID: h.DeliveryID, Through: h.Through, Attempt: int32(h.Attempt), After: after,
	})
	return hookOf(row.Webhook), err == nil, missing(err, nil, "begin delivery")
}

// CompleteDelivery logs a successful delivery and advances the cursor of the webhook past the events of the delivery.
func (s *Store) CompleteDelivery(ctx context.Context, d webhook.Delivery) error {
	status := int32(d.Status)
	err := s.q.CompleteDelivery(ctx, db.CompleteDeliveryParams{
		WebhookID: d.HookID, DeliveryID: d.ID, FirstSeq: d.First, LastSeq: d.Last, Events: int32(d.Events), Attempt: int32(d.Attempt),
		Status: &status, TookMs: int32(d.Took.Milliseconds()), At: d.At,
	})
	return pg.Fault(wrap("log delivery", err))
}

// FailDelivery logs a failed delivery. It stores since (when the failures began), next (the time of the next attempt), and
// whether the webhook remains active. reason explains why a webhook is deactivated, of which the owner gets a notice.
func (s *Store) FailDelivery(ctx context.Context, d webhook.Delivery, since, next time.Time, active bool, reason string) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		stored, err := q.FailDelivery(ctx, db.FailDeliveryParams{
			WebhookID: d.HookID, DeliveryID: d.ID, FirstSeq: d.First, LastSeq: d.Last, Events: int32(d.Events), Attempt: int32(d.Attempt),
			Status: int32(d.Status), Error: d.Error, TookMs: int32(d.Took.Milliseconds()), At: d.At,
			FailingSince: &since, NextAt: &next, Active: active, Reason: &reason, Detail: d.Detail,
		})
		if err != nil || active || stored == 0 {
			return wrap("log failed delivery", err)
		}
		return wrap("store notice", q.InsertWebhookNotice(ctx, db.InsertWebhookNoticeParams{ID: d.HookID, At: d.At}))
	})
}

// LogDelivery adds a line to the delivery log of a webhook. It does nothing if the webhook was deleted.
func (s *Store) LogDelivery(ctx context.Context, d webhook.Delivery) error {
	err := s.q.LogDelivery(ctx, db.LogDeliveryParams{
		WebhookID: d.HookID, DeliveryID: d.ID, FirstSeq: d.First, LastSeq: d.Last, Events: int32(d.Events), Attempt: int32(d.Attempt),
		Status: int32(d.Status), Error: d.Error, Detail: d.Detail, TookMs: int32(d.Took.Milliseconds()), At: d.At,
	})
	return pg.Fault(wrap("log delivery", err))
}

// AdvanceWebhooks stores the cursors of hooks. The webhooks do not receive the events between the old and the new cursor.
// AdvanceWebhooks skips webhooks that were changed or have a delivery in progress.
func (s *Store) AdvanceWebhooks(ctx context.Context, hooks []webhook.Hook) error {
	var p db.SkipWebhookEventsParams
	for i := range hooks {
		p.IDs = append(p.IDs, hooks[i].ID)
		p.Revisions = append(p.Revisions, int32(hooks[i].Revision))
		p.Cursors = append(p.Cursors, hooks[i].Cursor)
	}
	return pg.Fault(wrap("skip events of webhooks", s.q.SkipWebhookEvents(ctx, p)))
}

// ListDeliveries returns at most limit lines of the delivery log of a webhook, newest first. If before is not 0, it returns
// only lines with a number smaller than before. Error: not_found.
func (s *Store) ListDeliveries(ctx context.Context, ownerID, id string, before int64, limit int) ([]webhook.Delivery, error) {
	if _, err := s.GetWebhook(ctx, ownerID, id); err != nil {
		return nil, err
	}
	rows, err := s.q.ListDeliveries(ctx, db.ListDeliveriesParams{WebhookID: id, Before: before, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListDeliveriesRow) webhook.Delivery {
		return webhook.Delivery{
			Line: r.Line, HookID: r.WebhookID, ID: r.DeliveryID, First: r.FirstSeq, Last: r.LastSeq, Events: int(r.Events),
			Attempt: int(r.Attempt), At: r.At,
			Outcome: webhook.Outcome{
				Status: int(r.Status), Error: r.Error, Detail: r.Detail, Took: time.Duration(r.TookMs) * time.Millisecond,
			},
		}
	}), pg.Fault(wrap("list deliveries", err))
}

// SweepDeliveries deletes lines of the delivery logs that are older than webhook.KeepDeliveries.
func (s *Store) SweepDeliveries(ctx context.Context) error {
	return pg.Fault(wrap("delete old deliveries", s.q.DeleteOldDeliveries(ctx, s.now().UTC().Add(-webhook.KeepDeliveries))))
}

func hookOf(w db.Webhook) webhook.Hook {
	return webhook.Hook{
		ID: w.ID, OwnerID: w.UserID, URL: w.URL, Channels: w.Channels, Types: w.Types, Description: w.Description, Active: w.Active,
		Reason: pg.Value(w.Reason), CreatedAt: w.CreatedAt, Cursor: w.Taken, Revision: int(w.Revision), Secret: w.Secret,
		OldSecret: w.OldSecret, OldUntil: pg.Value(w.OldUntil), DeliveryID: pg.Value(w.DeliveryID), Through: pg.Value(w.Through),
		Attempt: int(w.Attempt), FailingSince: pg.Value(w.FailingSince), NextAt: pg.Value(w.NextAt),
	}
}
