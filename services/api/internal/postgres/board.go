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

// ListScores ranks operators from their counters.
func (s *Store) ListScores(ctx context.Context, tiers []string, lane string, limit int) ([]board.Row, error) {
	return s.boardRows(ctx, "board_scores", false, tiers, lane, limit)
}

// ListActivity lists operators with the figures of the broadcast score.
func (s *Store) ListActivity(ctx context.Context, tiers []string, lane string, since, month time.Time) ([]board.Row, error) {
	var from *time.Time
	if !since.IsZero() {
		from = &since
	}
	return s.boardRows(ctx, "board_activity", true, tiers, lane, from, month)
}

func (s *Store) boardRows(ctx context.Context, name string, broadcast bool, args ...any) ([]board.Row, error) {
	rows, err := s.pool.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (board.Row, error) {
		var r board.Row
		var void int64
		fields := append(operatorFields(&r.Operator), &r.Score, &r.Total, &r.Won, &r.Lost, &void)
		if broadcast {
			r.Broadcast = &board.Broadcast{}
			fields = append(fields, &r.Broadcast.Calls28, &r.Broadcast.Takes28, &r.Broadcast.WindowScore, &r.Broadcast.WindowDone)
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
