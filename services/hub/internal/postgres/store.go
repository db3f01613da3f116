package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed queries/*.sql
var queryFiles embed.FS

var queries = loadQueries()

func loadQueries() map[string]string {
	entries, err := queryFiles.ReadDir("queries")
	if err != nil {
		panic(err) // embedded at build time
	}
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		text, err := queryFiles.ReadFile("queries/" + e.Name())
		if err != nil {
			panic(err)
		}
		out[strings.TrimSuffix(e.Name(), ".sql")] = string(text)
	}
	return out
}

// query gives the statement of queries/<name>.sql.
func query(name string) string {
	text, ok := queries[name]
	if !ok {
		panic("no statement queries/" + name + ".sql")
	}
	return text
}

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
	db   *pg.DB // writes
	read *pg.DB
}

// New makes a store over an open pool.
func New(pool *pgxpool.Pool) *Store {
	return &Store{db: pg.Bound(pool, writeBudget), read: pg.Bound(pool, pg.ReadBudget)}
}

// Ready tells whether the database has the tables that this program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.db, Schema(""))
}

// Add implements audit.Log.
func (s *Store) Add(ctx context.Context, e audit.Entry) error {
	_, err := s.db.Exec(ctx, query("audit_add"),
		e.ID, e.At, string(e.Stage), e.Actor, e.Action, e.Target, e.RequestID, e.IP, e.Code, string(e.Detail))
	if err != nil {
		return fmt.Errorf("insert audit entry: %w", err)
	}
	return nil
}
