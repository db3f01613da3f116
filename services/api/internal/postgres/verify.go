package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// Verify recomputes the read models of boards and records from calls and results, and returns the differences. First come
// the differences that Recount finds, then differences of moments, best calls, streaks, tallies and ranked operators, then
// differences of edges. Each of these three parts has at most 1,000 differences. All reads use one snapshot. Verify changes
// nothing.
func Verify(ctx context.Context, pool *pgxpool.Pool) ([]Difference, error) {
	var list []Difference
	err := inSnapshot(ctx, pool, "verify", func(tx pgx.Tx) error {
		q := db.New(tx)
		counters, err := recount(ctx, q)
		if err != nil {
			return err
		}
		records, err := q.ListRecordDifferences(ctx)
		if err != nil {
			return fmt.Errorf("compare records: %w", err)
		}
		list = append(counters, pg.Collect(records, func(r db.ListRecordDifferencesRow) Difference {
			return differenceOf(db.ListCounterDifferencesRow(r))
		})...)
		more, err := verifyEdges(ctx, q)
		list = append(list, more...)
		return err
	})
	return list, err
}

// FillRecords recomputes the data of records and boards that depends on results, for 20 operators in each transaction. The
// services may run at the same time. FillRecords also corrects data that processes of the previous release wrote.
func FillRecords(ctx context.Context, pool *pgxpool.Pool) error {
	return fillRecords(ctx, db.New(pool), 20)
}

func fillRecords(ctx context.Context, q *db.Queries, atOnce int32) error {
	for _, fill := range []func(after *string) (*string, error){
		func(after *string) (*string, error) {
			return q.FillRecords(ctx, db.FillRecordsParams{After: after, Most: atOnce})
		},
		func(after *string) (*string, error) {
			return q.FillBoards(ctx, db.FillBoardsParams{After: after, Most: atOnce})
		},
	} {
		var after *string
		for {
			var err error
			if after, err = fill(after); err != nil {
				return pg.Fault(fmt.Errorf("fill records: %w", err))
			}
			if after == nil {
				break
			}
			select { // the pause lets other transactions take locks
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}

type boardKey struct{ user, lane string }

// verifyEdges recomputes from the results the statistical edge of each leaderboard row without pending changes. It skips
// rows with too many calls for the computation. It returns at most 1,000 differences.
func verifyEdges(ctx context.Context, q *db.Queries) ([]Difference, error) {
	samples, err := readSamples(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := q.ListStoredEdges(ctx)
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	var list []Difference
	for _, r := range rows {
		stored := edgeOf(r.SkillCalls, r.EdgeBps, r.LowBps, r.HighBps)
		computed, err := board.MeasureEdge(samples[boardKey{r.UserID, r.Lane}])
		if errors.Is(err, skill.ErrCount) {
			continue // FoldEdges also leaves the edge of a row with too many calls unchanged
		}
		if err != nil {
			return nil, fmt.Errorf("compute edge: %w", err)
		}
		if computed != stored && len(list) < 1000 {
			list = append(list, Difference{"board_rows edge", r.UserID + " " + r.Lane, fmt.Sprint(stored), fmt.Sprint(computed)})
		}
	}
	return list, nil
}

// readSamples returns the tallies of all counted calls on venue markets, for each pair of operator and lane. The lane "" has
// the calls of all lanes.
func readSamples(ctx context.Context, q *db.Queries) (map[boardKey][]skill.Tally, error) {
	type bin struct {
		boardKey
		price      protocol.Bps
		confidence int
	}
	rows, err := q.ListCountedTallies(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counted calls: %w", err)
	}
	counted := map[bin]*skill.Tally{}
	for _, r := range rows {
		price := skill.ClampPrice(protocol.Bps(r.PriceBps))
		for _, lane := range []string{"", r.Lane} {
			b := bin{boardKey{r.UserID, lane}, price, int(r.Confidence)}
			t := counted[b]
			if t == nil {
				t = &skill.Tally{Price: price, Confidence: b.confidence}
				counted[b] = t
			}
			t.Calls += r.Calls
			t.Wins += r.Wins
		}
	}
	out := map[boardKey][]skill.Tally{}
	for b, t := range counted {
		out[b.boardKey] = append(out[b.boardKey], *t)
	}
	return out, nil
}

// Difference is a stored value that does not equal the recomputed value. Counter names the kind of value, and Of names the
// object to which the value belongs.
type Difference struct {
	Counter, Of      string
	Stored, Computed string
}

// Recount compares every stored counter with a count of the stored calls and results, in one snapshot. It returns at most
// 1,000 differences and changes nothing.
func Recount(ctx context.Context, pool *pgxpool.Pool) ([]Difference, error) {
	list, err := recount(ctx, db.New(pool))
	return list, pg.Fault(err)
}

func recount(ctx context.Context, q *db.Queries) ([]Difference, error) {
	rows, err := q.ListCounterDifferences(ctx)
	return pg.Collect(rows, differenceOf), wrap("compare counters", err)
}

func differenceOf(r db.ListCounterDifferencesRow) Difference {
	return Difference{Counter: r.Counter, Of: r.Of, Stored: orNothing(r.Stored), Computed: orNothing(r.Computed)}
}

func orNothing(s *string) string {
	if s == nil {
		return "nothing"
	}
	return *s
}
