package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// Verify works every read model of the boards and records out again, from signals and
// results, and gives the differences: those of Recount, then moments, best calls,
// streaks, tallies, the field of ranks and edges. All of it is read in one snapshot. It
// changes nothing. Of each kind at most 1,000 differences are given.
func Verify(ctx context.Context, pool *pgxpool.Pool) ([]Difference, error) {
	var list []Difference
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		list = nil
		for _, name := range []string{"recount", "verify"} {
			more, err := differences(ctx, tx, name)
			if err != nil {
				return err
			}
			list = append(list, more...)
		}
		more, err := verifyEdges(ctx, tx)
		list = append(list, more...)
		return err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("verify: %w", err))
	}
	return list, nil
}

// FillRecords recomputes what records and boards show of results, a few operators per
// transaction. The services may run. It corrects what processes of the previous release scored.
func FillRecords(ctx context.Context, pool *pgxpool.Pool) error {
	const atOnce = 20
	for _, name := range []string{"record_fill", "board_fill"} {
		var after *string
		for {
			if err := pool.QueryRow(ctx, query(name), after, atOnce).Scan(&after); err != nil {
				return pg.Fault(fmt.Errorf("%s: %w", name, err))
			}
			if after == nil {
				break
			}
			select { // lets waiting transactions take their locks
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}

type boardKey struct{ user, lane string }

// verifyEdges measures every row from the results themselves.
func verifyEdges(ctx context.Context, tx pgx.Tx) ([]Difference, error) {
	samples, err := readSamples(ctx, tx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, query("verify_edges"))
	if err != nil {
		return nil, fmt.Errorf("verify_edges: %w", err)
	}
	var list []Difference
	var k boardKey
	var kept board.Edge
	_, err = pgx.ForEachRow(rows, []any{&k.user, &k.lane, &kept.Calls, &kept.EdgeBps, &kept.LowBps, &kept.HighBps}, func() error {
		counted, err := board.MeasureEdge(samples[k])
		if errors.Is(err, skill.ErrCount) {
			return nil // too many to measure: what stands there is of before
		}
		if err == nil && counted != kept && len(list) < 1000 {
			list = append(list, Difference{"board_rows edge", k.user + " " + k.lane, fmt.Sprint(kept), fmt.Sprint(counted)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify_edges: %w", err)
	}
	return list, nil
}

// readSamples tallies every counted call on a venue market by operator and lane, and by operator.
func readSamples(ctx context.Context, tx pgx.Tx) (map[boardKey][]skill.Tally, error) {
	type bin struct {
		boardKey
		price      syntax.Bps
		confidence int
	}
	counted := map[bin]*skill.Tally{}
	rows, err := tx.Query(ctx, query("verify_results"))
	if err != nil {
		return nil, fmt.Errorf("verify_results: %w", err)
	}
	var user, lane string
	var b bin
	var won bool
	_, err = pgx.ForEachRow(rows, []any{&user, &lane, &b.price, &b.confidence, &won}, func() error {
		b.price = skill.Within(b.price)
		for _, l := range []string{"", lane} {
			b.boardKey = boardKey{user, l}
			t := counted[b]
			if t == nil {
				t = &skill.Tally{Price: b.price, Confidence: b.confidence}
				counted[b] = t
			}
			t.Calls++
			if won {
				t.Wins++
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("verify_results: %w", err)
	}
	out := map[boardKey][]skill.Tally{}
	for b, t := range counted {
		out[b.boardKey] = append(out[b.boardKey], *t)
	}
	return out, nil
}
