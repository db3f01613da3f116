package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ListEvents reads a signal's history, oldest first. Fault: not_found.
func (s *Store) ListEvents(ctx context.Context, signalID string) ([]signal.Event, error) {
	rows, err := s.reads.Query(ctx, query("signal_events"), signalID)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list events: %w", err))
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (signal.Event, error) {
		var e signal.Event
		err := row.Scan(&e.ID, &e.Type, &e.Payload, &e.Actor, &e.CreatedAt)
		return e, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list events: %w", err))
	}
	if len(events) == 0 {
		if _, err := s.GetSignal(ctx, signalID); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// AppendEvent adds one event to the caller's own signal and gives it as it stands: the
// same event id twice is the same event, and with other words it is refused.
func (s *Store) AppendEvent(ctx context.Context, caller signal.Caller, signalID string, e signal.Event) (signal.Event, error) {
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		return appendEvent(ctx, tx, caller, signalID, &e)
	})
	return e, err
}

// appendEvent sets the time of the event to the one that stands.
func appendEvent(ctx context.Context, tx pgx.Tx, caller signal.Caller, signalID string, e *signal.Event) error {
	if _, err := tx.Exec(ctx, query("signal_event_lock"), signalID); err != nil {
		return fmt.Errorf("lock signal history: %w", err)
	}
	var user *string
	if caller.KeyHash == nil && caller.OperatorID != "" {
		user = &caller.OperatorID
	}
	var known, found, owner, stands bool
	var woken int
	var same *bool
	var stood *time.Time
	err := tx.QueryRow(ctx, query("signal_event_append"), caller.KeyHash, user, signalID, e.ID, e.Type, e.Payload,
		e.Actor, e.CreatedAt, signal.MaxEvents).Scan(&known, &found, &owner, &stands, &woken, &same, &stood)
	switch {
	case err != nil:
		return fmt.Errorf("append event: %w", err)
	case !known:
		return signal.ErrUnauthenticated
	case !found:
		return signal.ErrNotFound
	case !owner:
		return signal.ErrForbidden
	case !stands:
		return signal.ErrEventLimit
	case same != nil && !*same:
		return signal.ErrKeyReused
	}
	if stood != nil {
		e.CreatedAt = stood.UTC()
	}
	return nil
}
