package postgres

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/clock/internal/postgres/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaName is the name of the database schema of the clock.
const SchemaName = "clock"

// writeBudget is the timeout of a write transaction.
const writeBudget = 2 * time.Second

// Schema returns the database schema of the clock service. password is the password of the role clock_rw. Only migrations require
// it.
func Schema(password string) pg.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return pg.Schema{Name: SchemaName, Files: files, Password: password}
}

// Store implements program.Store and outbox.Store with PostgreSQL. The connection pool uses the role clock_rw.
type Store struct {
	pool   *pgxpool.Pool
	bound  *pg.DB      // pool whose statements have the timeout of a read
	reads  *db.Queries // statements with the timeout of a read
	writes *db.Queries // statements with a timeout of at least writeBudget
}

// New returns a Store that uses an open pool. read is the timeout of a read statement, which includes the wait for a connection.
func New(pool *pgxpool.Pool, read time.Duration) *Store {
	bound := pg.Bound(pool, read)
	return &Store{pool: pool, bound: bound, reads: db.New(bound), writes: db.New(pg.Bound(pool, max(writeBudget, read)))}
}

// Ready returns an error if the database is unavailable or has an older schema than this program requires.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.bound, Schema(""))
}
