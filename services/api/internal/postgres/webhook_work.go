package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// BeginDelivery notes that a delivery is about to be sent, and gives the webhook as it
// is now. It tells false when the webhook is gone, at rest, changed, or further on;
// after is the number that the delivery's events are behind.
func (s *Store) BeginDelivery(ctx context.Context, h webhook.Hook, after int64) (webhook.Hook, bool, error) {
	now, err := s.webhook(ctx, "webhook_begin", h.ID, h.Revision, h.DeliveryID, h.Through, h.Attempt, after)
	if errors.Is(err, webhook.ErrNotFound) {
		return webhook.Hook{}, false, nil
	}
	return now, err == nil, err
}

// TakenDelivery notes a success and moves the cursor behind the delivery.
func (s *Store) TakenDelivery(ctx context.Context, d webhook.Delivery) error {
	return s.note(ctx, "webhook_taken", d.HookID, d.ID, d.First, d.Last, d.Events, d.Attempt, d.Status, d.Took.Milliseconds(), d.At)
}

// FailedDelivery notes a failure: since when it fails, when it is tried again, and
// whether it is.
func (s *Store) FailedDelivery(ctx context.Context, d webhook.Delivery, since, next time.Time, active bool, reason string) error {
	return s.note(ctx, "webhook_failed", d.HookID, d.ID, d.First, d.Last, d.Events, d.Attempt, d.Status, d.Error, d.Took.Milliseconds(),
		since, next, active, reason, d.At)
}

// LogDelivery adds a line to the log of a webhook that is still there.
func (s *Store) LogDelivery(ctx context.Context, d webhook.Delivery) error {
	return s.note(ctx, "webhook_log", d.HookID, d.ID, d.First, d.Last, d.Events, d.Attempt, d.Status, d.Error, d.Took.Milliseconds(), d.At)
}

func (s *Store) note(ctx context.Context, name string, args ...any) error {
	if _, err := s.pool.Exec(ctx, query(name), args...); err != nil {
		return pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return nil
}

// PassWebhooks moves cursors over events that were not for them.
func (s *Store) PassWebhooks(ctx context.Context, hooks []webhook.Hook) error {
	ids, revisions, cursors := make([]string, len(hooks)), make([]int, len(hooks)), make([]int64, len(hooks))
	for i := range hooks {
		ids[i], revisions[i], cursors[i] = hooks[i].ID, hooks[i].Revision, hooks[i].Cursor
	}
	return s.note(ctx, "webhook_pass", ids, revisions, cursors)
}

// ListDeliveries lists up to limit lines of a webhook's log below before (0: all),
// newest first. Fault: not_found.
func (s *Store) ListDeliveries(ctx context.Context, ownerID, id string, before int64, limit int) ([]webhook.Delivery, error) {
	if _, err := s.GetWebhook(ctx, ownerID, id); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, query("webhook_deliveries"), id, before, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list deliveries: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (webhook.Delivery, error) {
		var d webhook.Delivery
		var took int64
		err := row.Scan(&d.Line, &d.HookID, &d.ID, &d.First, &d.Last, &d.Events, &d.Attempt, &d.Status, &d.Error, &took, &d.At)
		d.Took = time.Duration(took) * time.Millisecond
		return d, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list deliveries: %w", err))
	}
	return list, nil
}

// SweepDeliveries deletes what the log has kept for long enough.
func (s *Store) SweepDeliveries(ctx context.Context) error {
	return s.note(ctx, "webhook_sweep", s.now().UTC().Add(-webhook.KeepDeliveries))
}
