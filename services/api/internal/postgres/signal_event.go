package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ListEvents returns the events in the history of a call, oldest first. Error: not_found if the call does not exist.
func (s *Store) ListEvents(ctx context.Context, signalID string) ([]signal.Event, error) {
	rows, err := s.rq.ListSignalEvents(ctx, signalID)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list events: %w", err))
	}
	events := pg.Collect(rows, func(r db.ListSignalEventsRow) signal.Event { return signal.Event(r) })
	if len(events) == 0 {
		if _, err := s.GetSignal(ctx, signalID); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// AppendEvent adds one event to a call that the caller owns, and returns the stored event. If the event id is already stored
// with the same content, it returns the stored event. Errors: signal.ErrUnauthenticated, signal.ErrNotFound,
// signal.ErrForbidden if another operator owns the call, signal.ErrEventLimit if the call has signal.MaxEvents events,
// signal.ErrKeyReused if the event id is stored with other content.
func (s *Store) AppendEvent(ctx context.Context, caller signal.Caller, signalID string, e signal.Event) (signal.Event, error) {
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		return appendEvent(ctx, tx, caller, signalID, &e)
	})
	return e, err
}

// appendEvent executes AppendEvent within the given transaction. It sets e.CreatedAt to the stored time.
func appendEvent(ctx context.Context, tx pgx.Tx, caller signal.Caller, signalID string, e *signal.Event) error {
	q := db.New(tx)
	if err := q.LockSignalEvents(ctx, signalID); err != nil {
		return fmt.Errorf("lock signal history: %w", err)
	}
	p := db.AppendSignalEventParams{
		KeyHash: caller.KeyHash, SignalID: signalID, ID: e.ID, Type: e.Type, Payload: []byte(e.Payload), Actor: e.Actor,
		Now: e.CreatedAt, MostEvents: signal.MaxEvents,
	}
	if caller.KeyHash == nil && caller.OperatorID != "" {
		p.UserID = &caller.OperatorID
	}
	row, err := q.AppendSignalEvent(ctx, p)
	switch {
	case err != nil:
		return fmt.Errorf("append event: %w", err)
	case !row.Known:
		return signal.ErrUnauthenticated
	case !row.Found:
		return signal.ErrNotFound
	case !row.Owner:
		return signal.ErrForbidden
	case !row.Stored:
		return signal.ErrEventLimit
	case row.Same != nil && !*row.Same:
		return signal.ErrKeyReused
	}
	if row.StoredAt != nil {
		e.CreatedAt = row.StoredAt.UTC()
	}
	return nil
}
