package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// FoldEdges measures up to so many rows whose results have changed. It is done when
// none is left, or when another process folds.
func (s *Store) FoldEdges(ctx context.Context, rows int, measure func([]skill.Tally) (board.Edge, error)) (done bool, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, query("board_lock")).Scan(&mine); err != nil {
			return fmt.Errorf("lock boards: %w", err)
		}
		if !mine {
			done = true
			return nil
		}
		users, lanes, err := takeDue(ctx, tx, rows)
		if err != nil {
			return err
		}
		if done = len(users) < rows; len(users) == 0 {
			return nil
		}
		tallies, err := readTallies(ctx, tx, users, lanes)
		if err != nil {
			return err
		}
		n := len(users)
		calls, edges, lows, highs := make([]int64, n), make([]int32, n), make([]int32, n), make([]int32, n)
		for i := range users {
			e, err := measure(tallies[i])
			if err != nil {
				return fmt.Errorf("measure operator %s, lane %q: %w", users[i], lanes[i], err)
			}
			calls[i], edges[i], lows[i], highs[i] = e.Calls, int32(e.EdgeBps), int32(e.LowBps), int32(e.HighBps)
		}
		if _, err := tx.Exec(ctx, query("board_edges"), users, lanes, calls, edges, lows, highs); err != nil {
			return fmt.Errorf("keep edges: %w", err)
		}
		return nil
	})
	return done, err
}

func takeDue(ctx context.Context, tx pgx.Tx, limit int) (users, lanes []string, err error) {
	rows, err := tx.Query(ctx, query("board_due"), limit)
	if err != nil {
		return nil, nil, fmt.Errorf("take due rows: %w", err)
	}
	var user, lane string
	_, err = pgx.ForEachRow(rows, []any{&user, &lane}, func() error {
		users, lanes = append(users, user), append(lanes, lane)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("take due rows: %w", err)
	}
	return users, lanes, nil
}

// readTallies reads the calls of each row.
func readTallies(ctx context.Context, from queryer, users, lanes []string) ([][]skill.Tally, error) {
	out := make([][]skill.Tally, len(users))
	rows, err := from.Query(ctx, query("board_tallies"), users, lanes)
	if err != nil {
		return nil, fmt.Errorf("read tallies: %w", err)
	}
	var n int
	var t skill.Tally
	_, err = pgx.ForEachRow(rows, []any{&n, &t.Price, &t.Confidence, &t.Calls, &t.Wins}, func() error {
		out[n-1] = append(out[n-1], t)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read tallies: %w", err)
	}
	return out, nil
}
