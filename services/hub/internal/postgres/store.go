package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema returns the database schema of the hub with its migrations. password is the password of the role hub_rw, which only
// migrations need.
func Schema(password string) pg.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // unreachable: the directory is embedded
	}
	return pg.Schema{Name: "hub", Files: files, Password: password}
}

// writeBudget is the minimum time limit of a write.
const writeBudget = time.Second

// conn runs the statements and transactions of a store. Each has a time limit.
type conn struct {
	pool   *pgxpool.Pool
	budget time.Duration // time limit of a transaction
	write  *db.Queries   // limits each statement to budget
	read   *db.Queries   // limits each statement to the time limit of reads
}

// Store implements most of the store interfaces of the hub's packages. It accesses the database with the role hub_rw.
type Store struct{ conn }

// New returns a Store that uses an open pool. read is the time limit of a read. The time limit of a write is writeBudget, or read
// if that is longer.
func New(pool *pgxpool.Pool, read time.Duration) *Store {
	write := max(writeBudget, read)
	return &Store{conn{pool: pool, budget: write, write: db.New(pg.Bound(pool, write)), read: db.New(pg.Bound(pool, read))}}
}

// Ready returns an error unless the database has all migrations that this program requires.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, pg.Bound(s.pool, writeBudget), Schema(""))
}

// inTx runs the function do in one transaction, within the time limit of the store.
func (c conn) inTx(ctx context.Context, do func(ctx context.Context, q *db.Queries) error) error {
	return inTx(ctx, c.pool, c.budget, do)
}

func inTx(ctx context.Context, pool *pgxpool.Pool, budget time.Duration, do func(ctx context.Context, q *db.Queries) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error { return do(ctx, db.New(tx)) })
}

// found converts the result of a query for one row. It returns false and no error if there is no row.
func found[T any](row T, err error) (T, bool, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// mapOf returns a map with one entry for each row. The function entry returns the key and the value of a row. mapOf returns
// err unchanged, so that a caller can pass the results of a query directly.
func mapOf[R any, K comparable, V any](rows []R, err error, entry func(R) (K, V)) (map[K]V, error) {
	out := make(map[K]V, len(rows))
	for _, row := range rows {
		key, value := entry(row)
		out[key] = value
	}
	return out, err
}

// utc returns a time in UTC. It returns the zero time for null.
func utc(t *time.Time) time.Time { return pg.Value(t).UTC() }

// words converts a list of named string types to strings. The result is never nil.
func words[T ~string](list []T) []string {
	return pg.Collect(list, func(one T) string { return string(one) })
}

// Add implements audit.Store.
func (s *Store) Add(ctx context.Context, e audit.Entry) error {
	return s.write.InsertAuditEntry(ctx, db.InsertAuditEntryParams(e))
}

// DeleteAuditAddresses deletes the network addresses of entries of the audit log that are older than a time.
func (s *Store) DeleteAuditAddresses(ctx context.Context, before time.Time) error {
	return s.write.DeleteAuditAddresses(ctx, before)
}
