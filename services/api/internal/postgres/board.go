package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/score"
)

// ListScores ranks operators by their scores.
func (s *Store) ListScores(ctx context.Context, q board.Query, month time.Time) ([]board.Row, error) {
	return s.boardRows(ctx, "board_scores", false, q, month)
}

// ListBroadcast ranks operators by their broadcast scores; within28 over 28 days.
func (s *Store) ListBroadcast(ctx context.Context, q board.Query, within28 bool, month time.Time) ([]board.Row, error) {
	if within28 {
		return s.boardRows(ctx, "board_month", true, q, month)
	}
	return s.boardRows(ctx, "board_all", true, q, month)
}

// Record counts one operator's calls.
func (s *Store) Record(ctx context.Context, userID string) (r board.Record, err error) {
	err = s.pool.QueryRow(ctx, query("operator_record"), userID).Scan(&r.Total, &r.Won, &r.Lost, &r.Void, &r.Score)
	if err != nil {
		return r, pg.Fault(fmt.Errorf("operator_record: %w", err))
	}
	return r, nil
}

// ListEdge ranks operators by the lower end of their edge.
func (s *Store) ListEdge(ctx context.Context, q board.Query) ([]board.Row, error) {
	return s.boardRows(ctx, "board_edge", true, q)
}

func (s *Store) boardRows(ctx context.Context, name string, broadcast bool, q board.Query, more ...any) ([]board.Row, error) {
	rows, err := s.pool.Query(ctx, query(name), append([]any{q.Tiers, q.Lane, q.Limit}, more...)...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (board.Row, error) {
		var r board.Row
		var void int64
		fields := append(operatorFields(&r.Operator), &r.Score, &r.Total, &r.Won, &r.Lost, &void,
			&r.Edge.Calls, &r.Edge.EdgeBps, &r.Edge.LowBps, &r.Edge.HighBps)
		if broadcast {
			b := &board.Broadcast{}
			r.Broadcast = b
			fields = append(fields, &b.Score, &b.Calls28, &b.Takes28, &b.WindowScore, &b.WindowDone)
		}
		if err := row.Scan(fields...); err != nil {
			return r, err
		}
		r.Pending = r.Total - r.Won - r.Lost - void
		r.Accuracy = score.Accuracy(r.Won, r.Lost)
		return r, nil
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return list, nil
}

// FoldBoards brings the rows of the boards up to date by one step: up to the given
// number of feed rows, and windows that begin at month at the latest. Boards read
// the same with it and without; they are read faster after it. It is done when
// nothing is left, or when another process folds.
func (s *Store) FoldBoards(ctx context.Context, rows int, month time.Time) (done bool, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, query("board_lock")).Scan(&mine); err != nil {
			return fmt.Errorf("lock boards: %w", err)
		}
		if !mine {
			done = true
			return nil
		}
		var seq int64
		var since time.Time
		if err := tx.QueryRow(ctx, query("board_plan"), rows, month).Scan(&seq, &since, &done); err != nil {
			return fmt.Errorf("plan boards: %w", err)
		}
		// The rows first: they are worked out from the window as it was.
		if _, err := tx.Exec(ctx, query("board_keep"), seq, since); err != nil {
			return fmt.Errorf("keep boards: %w", err)
		}
		if _, err := tx.Exec(ctx, query("board_mark"), seq); err != nil {
			return fmt.Errorf("mark boards: %w", err)
		}
		if _, err := tx.Exec(ctx, query("board_age"), seq, since); err != nil {
			return fmt.Errorf("age boards: %w", err)
		}
		return nil
	})
	return done, err
}
