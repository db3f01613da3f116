package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
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

// Store is the hub's database as the role hub_rw sees it.
type Store struct {
	pool  *pgxpool.Pool
	write *db.Queries // within writeBudget each
	read  *db.Queries // within pg.ReadBudget each
}

// New returns a store over an open pool.
func New(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, write: db.New(pg.Bound(pool, writeBudget)), read: db.New(pg.Bound(pool, pg.ReadBudget))}
}

// Ready returns an error unless the database has the tables that this program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, pg.Bound(s.pool, writeBudget), Schema(""))
}

// inTx executes a business step in one transaction within writeBudget.
func (s *Store) inTx(ctx context.Context, do func(ctx context.Context, q *db.Queries) error) error {
	return inTx(ctx, s.pool, writeBudget, do)
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

// utc returns a time in UTC; null is the zero time.
func utc(t *time.Time) time.Time { return pg.Value(t).UTC() }

// words returns a list that is not null.
func words[T ~string](list []T) []string {
	return pg.Collect(list, func(one T) string { return string(one) })
}

// Add implements audit.Log.
func (s *Store) Add(ctx context.Context, e audit.Entry) error {
	if err := s.write.InsertAuditEntry(ctx, db.InsertAuditEntryParams(e)); err != nil {
		return fmt.Errorf("insert audit entry: %w", err)
	}
	return nil
}
