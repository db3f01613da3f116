package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB runs single statements on a pool. It implements the interface DBTX that sqlc generates.
//
// Each statement has a time limit, which includes the wait for a connection of the pool. DB converts errors with Fault. The error
// of a statement that sqlc generated begins with the name of the statement.
type DB struct {
	pool   *pgxpool.Pool
	budget time.Duration // of each statement
}

// Bound returns a DB whose statements take at most budget. ReadBudget is for reads during which a client waits.
func Bound(pool *pgxpool.Pool, budget time.Duration) *DB {
	return &DB{pool: pool, budget: budget}
}

// Exec runs a statement without a result and returns its command tag.
func (d *DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(ctx, d.budget)
	defer cancel()
	tag, err := d.pool.Exec(ctx, sql, args...)
	return tag, Fault(named(sql, err))
}

// Query runs a statement and returns its rows. The caller must close them or read them to the end: the connection is then back
// in the pool, and the time limit ends.
func (d *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, cancel := context.WithTimeout(ctx, d.budget)
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		cancel()
		return nil, Fault(named(sql, err))
	}
	return boundRows{namedRows{rows, sql}, cancel}, nil
}

// QueryRow runs a statement and returns its first row. Scan returns the error of the statement, or pgx.ErrNoRows, and releases the
// connection.
func (d *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, cancel := context.WithTimeout(ctx, d.budget)
	return boundRow{namedRow{d.pool.QueryRow(ctx, sql, args...), sql}, cancel}
}

// boundRows are rows whose time limit ends with them.
type boundRows struct {
	namedRows
	cancel context.CancelFunc
}

func (r boundRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.cancel()
	return false
}

func (r boundRows) Close() {
	r.Rows.Close()
	r.cancel()
}

func (r boundRows) Err() error { return Fault(r.namedRows.Err()) }

func (r boundRows) Scan(dest ...any) error { return Fault(r.namedRows.Scan(dest...)) }

// boundRow is a row whose time limit ends with Scan.
type boundRow struct {
	namedRow
	cancel context.CancelFunc
}

func (r boundRow) Scan(dest ...any) error {
	defer r.cancel()
	return Fault(r.namedRow.Scan(dest...))
}
