package pg

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Beginner starts transactions. Pools, connections and transactions implement it. Begin on a transaction sets a
// savepoint.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs do in a transaction and commits it if do returns nil. Otherwise it rolls the transaction back.
//
// InTx returns the error of do, of the start or of the commit, converted with Fault. After a failed commit the
// transaction may have taken effect, because the answer of Postgres can be lost. The error of a statement generated
// by sqlc begins with the name of the statement.
func InTx(ctx context.Context, db Beginner, do func(tx pgx.Tx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return Fault(err)
	}
	committed := false
	defer func() {
		if !committed {
			rollback(ctx, tx)
		}
	}()
	if err := do(namedTx{tx}); err != nil {
		return Fault(err)
	}
	committed = true
	return Fault(tx.Commit(ctx))
}

// rollback rolls a transaction back within 1 s, even if ctx has ended, so that the connection returns to the pool.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// If the rollback fails, pgx closes the connection, and Postgres then rolls the transaction back.
	_ = tx.Rollback(ctx)
}

// namedTx is a transaction whose errors contain the name of the failed statement.
type namedTx struct{ pgx.Tx }

func (t namedTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := t.Tx.Exec(ctx, sql, args...)
	return tag, named(sql, err)
}

func (t namedTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	rows, err := t.Tx.Query(ctx, sql, args...)
	return namedRows{rows, sql}, named(sql, err)
}

func (t namedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return namedRow{t.Tx.QueryRow(ctx, sql, args...), sql}
}

// namedRows is the result of Query. Its errors contain the name of the statement.
type namedRows struct {
	pgx.Rows
	sql string
}

func (r namedRows) Err() error { return named(r.sql, r.Rows.Err()) }

func (r namedRows) Scan(dest ...any) error { return named(r.sql, r.Rows.Scan(dest...)) }

// namedRow is the result of QueryRow. Its error contains the name of the statement.
type namedRow struct {
	row pgx.Row
	sql string
}

func (r namedRow) Scan(dest ...any) error { return named(r.sql, r.row.Scan(dest...)) }

// named adds the name of a statement to its error. sqlc writes the name into the first line of the statement, such as
// "-- name: GetMarket :one". The error of a statement without a name is returned unchanged.
func named(sql string, err error) error {
	rest, generated := strings.CutPrefix(sql, "-- name: ")
	if err == nil || !generated {
		return err
	}
	name, _, _ := strings.Cut(rest, " ")
	return fmt.Errorf("%s: %w", name, err)
}
