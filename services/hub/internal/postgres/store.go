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

// Schema is what the hub keeps in the database; the password is that of its
// writing role and needed to migrate only.
func Schema(password string) pg.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return pg.Schema{Name: "hub", Files: files, Password: password}
}

// writeBudget is how long a write may take, an entry of the audit log too.
const writeBudget = time.Second

// conn executes the statements and transactions of a store, each within its time.
type conn struct {
	pool   *pgxpool.Pool
	budget time.Duration // of a transaction
	write  *db.Queries   // within budget each
	read   *db.Queries
}

// Store is the hub's database as the role hub_rw sees it.
type Store struct{ conn }

// New returns a store over an open pool. read is how long a read may take; a write may take writeBudget, or read if that is longer.
func New(pool *pgxpool.Pool, read time.Duration) *Store {
	write := max(writeBudget, read)
	return &Store{conn{pool: pool, budget: write, write: db.New(pg.Bound(pool, write)), read: db.New(pg.Bound(pool, read))}}
}

// Ready returns an error unless the database has the tables that this program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, pg.Bound(s.pool, writeBudget), Schema(""))
}

// inTx executes a business step in one transaction within the budget.
func (c conn) inTx(ctx context.Context, do func(ctx context.Context, q *db.Queries) error) error {
	return inTx(ctx, c.pool, c.budget, do)
}

func inTx(ctx context.Context, pool *pgxpool.Pool, budget time.Duration, do func(ctx context.Context, q *db.Queries) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error { return do(ctx, db.New(tx)) })
}

// found reports whether a statement returned a row.
func found[T any](row T, err error) (T, bool, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// mapOf returns a map with the key and value that entry returns for each row, and err. It is for the results of a statement.
func mapOf[R any, K comparable, V any](rows []R, err error, entry func(R) (K, V)) (map[K]V, error) {
	out := make(map[K]V, len(rows))
	for _, row := range rows {
		key, value := entry(row)
		out[key] = value
	}
	return out, err
}

// utc returns a time in UTC; null is the zero time.
func utc(t *time.Time) time.Time { return pg.Value(t).UTC() }

// words returns a list that is not null.
func words[T ~string](list []T) []string {
	return pg.Collect(list, func(one T) string { return string(one) })
}

// Add implements audit.Store.
func (s *Store) Add(ctx context.Context, e audit.Entry) error {
	return s.write.InsertAuditEntry(ctx, db.InsertAuditEntryParams(e))
}
