package postgres

import (
	"context"
	_ "embed" // for the SQL files in directory hot
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// Fsck compares the stored calls, results and events with the leaves of the journal, and the journal with its signed
// checkpoints. All reads use one snapshot. external lists checkpoints that are stored outside the database. Fsck changes
// nothing.
func Fsck(ctx context.Context, pool *pgxpool.Pool, key journal.Key, external []journal.Checkpoint) (*journal.Findings, error) {
	var found *journal.Findings
	err := inSnapshot(ctx, pool, "check the journal", func(tx pgx.Tx) error {
		rows, err := db.New(tx).ListCheckpoints(ctx)
		if err != nil {
			return err
		}
		heads := make([]journal.Head, len(rows))
		for i, r := range rows {
			if heads[i], err = headOf(db.GetCheckpointRow(r)); err != nil {
				return err
			}
		}
		slices.Reverse(heads)
		check := journal.NewCheck(key, heads, external)
		if err := checkLeaves(ctx, tx, check); err != nil {
			return err
		}
		err = checkUnsealed(ctx, tx, check)
		found = check.End()
		return err
	})
	return found, err
}

//go:embed hot/check_leaves.sql
var readLeaves string

func checkLeaves(ctx context.Context, tx pgx.Tx, check *journal.Check) error {
	rows, err := tx.Query(ctx, readLeaves)
	if err != nil {
		return err
	}
	var n int64
	var kind int16
	var of string
	var hash, now []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &kind, &of, &hash, &now}, func() error {
		leaf := journal.Leaf{Kind: journal.Kind(kind), Of: of, Hash: journal.Hash(hash)}
		if now == nil {
			check.Leaf(n, leaf, nil)
			return nil
		}
		is := journal.Hash(now)
		check.Leaf(n, leaf, &is)
		return nil
	})
	return err
}

// checkUnsealed reports at most 1,000 database rows that have no leaf in the journal and that no pending work will add. It
// reports nothing while existing rows are still being added to the journal.
func checkUnsealed(ctx context.Context, tx pgx.Tx, check *journal.Check) error {
	if check.Filling() {
		return nil // existing rows are still being added to the journal
	}
	rows, err := db.New(tx).ListUnsealedRows(ctx, check.FeedSeq())
	for _, r := range rows {
		check.Stray(journal.Kind(r.Kind), r.Of)
	}
	return err
}

// FsckCalls recomputes three values of each call from the stored facts: the scoring price, whether the call was late, and
// whether it counts. It skips results of scoring version 1.0. It returns at most 10,000 differences. If confirm is true, a
// call on a venue market counts only with a second quote. FsckCalls changes nothing.
func FsckCalls(ctx context.Context, pool *pgxpool.Pool, confirm bool) ([]Difference, error) {
	rows, err := db.New(pool).ListCallDifferences(ctx, confirm)
	return pg.Collect(rows, func(r db.ListCallDifferencesRow) Difference { return differenceOf(db.ListCounterDifferencesRow(r)) }),
		pg.Fault(wrap("compare calls", err))
}
