package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/export"
)

// toleranceLock is the advisory lock of those that note a tolerance.
const toleranceLock int64 = 7201017

// noteTime is how long noting it may take; filings wait meanwhile.
const noteTime = 5 * time.Second

// noted remembers that the setting of this process is in the history.
type noted struct {
	mu   sync.Mutex
	done bool
}

// NoteTolerance writes the price tolerance into its history when it differs from the
// last one there. It is done once; every filing asks for it first, so that no call is
// filed under a tolerance that nobody can look up. Fault: db_unavailable.
func (s *Store) NoteTolerance(ctx context.Context) error {
	s.noted.mu.Lock()
	defer s.noted.mu.Unlock()
	if s.noted.done {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", toleranceLock); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, query("tolerance_note"), s.rules.PriceToleranceBps, s.now().UTC().Truncate(time.Millisecond))
		return err
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("note price tolerance: %w", err))
	}
	s.noted.done = true
	return nil
}

// PriceTolerances implements export.Store.
func (s *Store) PriceTolerances(ctx context.Context) ([]export.Tolerance, error) {
	rows, err := s.reads.Query(ctx, query("tolerance_list"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read price tolerances: %w", err))
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[export.Tolerance])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read price tolerances: %w", err))
	}
	return list, nil
}
