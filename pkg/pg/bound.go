package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB runs single statements on a pool, each within a time budget that covers
// the wait for a connection. Its errors are already faults. It fits the
// interface that sqlc generates.
type DB struct {
	pool   *pgxpool.Pool
	budget time.Duration
}

// Bound is pool with a budget for each statement; ReadBudget fits reads that a
// caller waits for.
func Bound(pool *pgxpool.Pool, budget time.Duration) *DB {
	return &DB{pool: pool, budget: budget}
}

// Pool is the pool underneath.
func (d *DB) Pool() *pgxpool.Pool { return d.pool }

// Exec runs a statement that returns no rows.
func (d *DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(ctx, d.budget)
	defer cancel()
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return pgconn.CommandTag{}, Fault(&settled{err})
	}
	defer conn.Release()
	tag, err := conn.Exec(ctx, sql, args...)
	return tag, Fault(err)
}

// Query runs a statement that returns rows. Close the rows, or read them to the
// end, to give the connection back.
func (d *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, cancel := context.WithTimeout(ctx, d.budget)
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		cancel()
		return nil, Fault(&settled{err})
	}
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		conn.Release()
		cancel()
		return nil, Fault(err)
	}
	return &boundRows{Rows: rows, conn: conn, cancel: cancel}, nil
}

// QueryRow runs a statement that returns one row; Scan reports its error.
func (d *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, sql, args...)
	return boundRow{rows: rows, err: err}
}

type boundRows struct {
	pgx.Rows
	conn   *pgxpool.Conn
	cancel context.CancelFunc
}

func (r *boundRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *boundRows) Close() {
	r.Rows.Close()
	if r.conn != nil {
		r.conn.Release()
		r.conn = nil
		r.cancel()
	}
}

func (r *boundRows) Err() error { return Fault(r.Rows.Err()) }

func (r *boundRows) Scan(dest ...any) error { return Fault(r.Rows.Scan(dest...)) }

type boundRow struct {
	rows pgx.Rows
	err  error
}

func (r boundRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
