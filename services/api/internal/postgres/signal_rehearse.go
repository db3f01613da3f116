package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// errTakenBack ends a transaction of which nothing shall stay.
var errTakenBack = errors.New("taken back")

// RehearseFile runs the filing statement for one call, reads what it has made, and takes
// it back: what is answered is what would stand, because it stood. A call that is filed
// meanwhile on the same market waits for that moment, and is not refused by it.
func (s *Store) RehearseFile(ctx context.Context, caller signal.Caller, draft signal.Draft) (signal.Filing, signal.Record, error) {
	f := newFiling(signal.Call{Caller: caller, Draft: draft})
	var would signal.Record
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := s.runFiling(ctx, tx, []*filing{f}, 0, s.now().UTC().Truncate(time.Millisecond))
		if err != nil {
			return err
		}
		if err := settleRaced(ctx, tx, &r.lost); err != nil {
			return err
		}
		if f.answer.Verdict != signal.VerdictFiled {
			return errTakenBack
		}
		rows, err := tx.Query(ctx, query("signal_get"), draft.ID)
		if err != nil {
			return fmt.Errorf("read the rehearsed call: %w", err)
		}
		if would, err = pgx.CollectExactlyOneRow(rows, scanRecord); err != nil {
			return fmt.Errorf("read the rehearsed call: %w", err)
		}
		return errTakenBack
	})
	return f.answer, would, unlessTakenBack(err)
}

// RehearseEvent runs the statement of AppendEvent and takes it back.
func (s *Store) RehearseEvent(ctx context.Context, caller signal.Caller, signalID string, e signal.Event) (signal.Event, error) {
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := appendEvent(ctx, tx, caller, signalID, &e); err != nil {
			return err
		}
		return errTakenBack
	})
	return e, unlessTakenBack(err)
}

func unlessTakenBack(err error) error {
	if errors.Is(err, errTakenBack) {
		return nil
	}
	return err
}
