package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/journal"
)

// Fsck compares the record with its journal, and the journal with its signed roots, in
// one snapshot; kept are roots that somebody has kept elsewhere. It changes nothing.
func Fsck(ctx context.Context, pool *pgxpool.Pool, key journal.Key, kept []journal.Checkpoint) (*journal.Findings, error) {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("check the journal: %w", err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	rows, err := tx.Query(ctx, query("journal_notes"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("check the journal: %w", err))
	}
	heads, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (journal.Head, error) { return scanHead(row) })
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("check the journal: %w", err))
	}
	slices.Reverse(heads)
	check := journal.NewCheck(key, heads, kept)
	if err := checkLeaves(ctx, tx, check); err != nil {
		return nil, pg.Fault(fmt.Errorf("check the journal: %w", err))
	}
	if err := strays(ctx, tx, check); err != nil {
		return nil, pg.Fault(fmt.Errorf("check the journal: %w", err))
	}
	return check.End(), nil
}

func checkLeaves(ctx context.Context, tx pgx.Tx, check *journal.Check) error {
	rows, err := tx.Query(ctx, query("journal_check"))
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

// strays are rows that are in no leaf, and that nothing says are on their way.
func strays(ctx context.Context, tx pgx.Tx, check *journal.Check) error {
	if check.Filling() {
		return nil // they are being sealed
	}
	rows, err := tx.Query(ctx, query("journal_strays"), check.FeedSeq())
	if err != nil {
		return err
	}
	var kind int16
	var of string
	_, err = pgx.ForEachRow(rows, []any{&kind, &of}, func() error {
		check.Stray(journal.Kind(kind), of)
		return nil
	})
	return err
}

// FsckCalls recomputes the scoring price, the late calls and the count of every call from the
// stored facts, and returns the differences, at most 10,000. confirm: a counted call on a venue
// market needs a second quote. It changes nothing.
func FsckCalls(ctx context.Context, pool *pgxpool.Pool, confirm bool) ([]Difference, error) {
	list, err := differences(ctx, pool, "fsck_calls", confirm)
	return list, pg.Fault(err)
}
