package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed queries/*.sql
var queryFiles embed.FS

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

// query gives the statement of queries/<name>.sql.
func query(name string) string {
	text, err := queryFiles.ReadFile("queries/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("no statement %s: %v", name, err)) // embedded at build time
	}
	return string(text)
}

// Store is the clock's database as the role clock_rw sees it.
type Store struct {
	reads  *pg.DB
	writes *pg.DB
}

// New makes a store over an open pool.
func New(pool *pgxpool.Pool) *Store {
	return &Store{reads: pg.Bound(pool, pg.ReadBudget), writes: pg.Bound(pool, writeBudget)}
}

// Ready tells whether the database answers and has the schema that this
// program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.reads, Schema(""))
}
