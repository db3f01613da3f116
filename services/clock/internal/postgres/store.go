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

// SchemaName is the schema of the clock.
const SchemaName = "clock"

// writeBudget is how long a step of the filler may take.
const writeBudget = 2 * time.Second

// Schema is the clock's part of the database; password is that of clock_rw and
// only migrations need it.
func Schema(password string) pg.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return pg.Schema{Name: SchemaName, Files: files, Password: password}
}

// Store is the clock's database as the role clock_rw sees it.
type Store struct {
	pool   *pgxpool.Pool
	bound  *pg.DB      // of reads
	reads  *db.Queries // within bound
	writes *db.Queries // within writeBudget each
}

// New returns a store over an open pool. read is how long a read may take.
func New(pool *pgxpool.Pool, read time.Duration) *Store {
	bound := pg.Bound(pool, read)
	return &Store{pool: pool, bound: bound, reads: db.New(bound), writes: db.New(pg.Bound(pool, max(writeBudget, read)))}
}

// Ready returns an error unless the database answers and has the schema that this program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.bound, Schema(""))
}
