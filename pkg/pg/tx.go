package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Beginner starts transactions: a pool, a connection, or a transaction (which
// then makes a savepoint).
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs do in one transaction and commits it when do returns nil. It gives
// back what do returned, or db_unavailable; only a failed commit can be in doubt.
func InTx(ctx context.Context, db Beginner, do func(tx pgx.Tx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return Fault(&settled{err})
	}
	committed := false
	defer func() {
		if !committed {
			rollback(ctx, tx)
		}
	}()
	if err := do(tx); err != nil {
		if InDoubt(err) {
			err = &settled{err} // the commit was never sent
		}
		return Fault(err)
	}
	committed = true
	return Fault(tx.Commit(ctx))
}

// rollback gives the connection back even when the caller has left.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// A connection that cannot roll back is closed, which rolls back too.
	_ = tx.Rollback(ctx)
}
