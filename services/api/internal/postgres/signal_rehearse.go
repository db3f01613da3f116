package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// errRollback is the error with which a dry run rolls back its transaction. The function ignoreRollback converts it to nil.
var errRollback = errors.New("dry run rolled back")

// DryRunFile executes the filing statement for one call, reads the stored call if the call was filed, and rolls back. If
// stub is true, a market that is not in the ledger is first inserted as unconfirmed, in the same transaction. A concurrent
// call on the same market waits for the rollback.
func (s *Store) DryRunFile(ctx context.Context, caller signal.Caller, draft signal.Draft, stub bool) (signal.Filing, signal.Record, error) {
	f := newFiling(signal.Call{Caller: caller, Draft: draft})
	f.waitForLock = true
	now := s.now().UTC().Truncate(time.Millisecond)
	var would signal.Record
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := lockMarkets(ctx, tx, []*filing{f}); err != nil {
			return err
		}
		r, err := s.runFiling(ctx, tx, []*filing{f}, now)
		if err == nil && stub && f.answer.Verdict == signal.VerdictUnknown {
			if err = insertStub(ctx, db.New(tx), draft.MarketID, now); err == nil {
				r, err = s.runFiling(ctx, tx, []*filing{f}, now)
			}
		}
		if err != nil {
			return err
		}
		if err := settleRaced(ctx, tx, &r.rejected); err != nil {
			return err
		}
		if err := s.readReplayed(ctx, tx, []*filing{f}); err != nil {
			return err
		}
		if f.answer.Verdict != signal.VerdictFiled {
			return errRollback
		}
		row, err := db.New(tx).GetSignal(ctx, draft.ID)
		if err != nil {
			return fmt.Errorf("read the rehearsed call: %w", err)
		}
		would = recordOf(db.SignalRecord(row))
		return errRollback
	})
	return f.answer, would, ignoreRollback(err)
}

// DryRunEvent executes the statement of AppendEvent and rolls back.
func (s *Store) DryRunEvent(ctx context.Context, caller signal.Caller, signalID string, e signal.Event) (signal.Event, error) {
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := appendEvent(ctx, tx, caller, signalID, &e); err != nil {
			return err
		}
		return errRollback
	})
	return e, ignoreRollback(err)
}

func ignoreRollback(err error) error {
	if errors.Is(err, errRollback) {
		return nil
	}
	return err
}
