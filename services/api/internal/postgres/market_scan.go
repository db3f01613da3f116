package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
)

// scanLock is the advisory lock of a scan.
const scanLock int64 = 7_201_002

// LockScan runs do while this session holds the lock of the scan; ok is false
// when another one does. The lock ends with its connection, so a process that
// dies leaves none.
func (s *Store) LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, pg.Fault(fmt.Errorf("lock scan: %w", err))
	}
	defer conn.Release()
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", scanLock).Scan(&ok); err != nil || !ok {
		return false, pg.Fault(err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, err := conn.Exec(closing, "SELECT pg_advisory_unlock($1)", scanLock); err != nil {
			// A connection that still holds the lock must not go back to the pool.
			_ = conn.Conn().Close(closing)
		}
	}()
	return true, do(ctx)
}

// ListPending lists markets with open calls and no outcome, the ones checked
// longest ago first, and notes the check.
func (s *Store) ListPending(ctx context.Context, providers []syntax.Provider, now time.Time, limit int) ([]resolve.Pending, error) {
	return s.pending(ctx, "market_scan", providers, now, limit)
}

// ListPendingDue is ListPending for the markets that the poll has to read.
func (s *Store) ListPendingDue(ctx context.Context, providers []syntax.Provider,
	now, edge, near, far, settled time.Time, limit int,
) ([]resolve.Pending, error) {
	return s.pending(ctx, "market_scan_due", providers, now, edge, near, far, settled, limit)
}

func (s *Store) pending(ctx context.Context, name string, args ...any) ([]resolve.Pending, error) {
	rows, err := s.pool.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p resolve.Pending, err error) {
		err = row.Scan(&p.ID, &p.Disputed)
		return p, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return list, nil
}
