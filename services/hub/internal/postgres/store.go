package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed queries/audit_add.sql
var auditAdd string

// Schema is what the hub keeps in the database; the password is that of its
// writing role and needed to migrate only.
func Schema(password string) pg.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return pg.Schema{Name: "hub", Files: files, Password: password}
}

// writeBudget is how long an entry of the audit log may take.
const writeBudget = time.Second

// Store is the hub's database as the role hub_rw sees it.
type Store struct {
	db *pg.DB
}

// New makes a store over an open pool.
func New(pool *pgxpool.Pool) *Store { return &Store{db: pg.Bound(pool, writeBudget)} }

// Ready tells whether the database has the tables that this program needs.
func (s *Store) Ready(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.db, Schema(""))
}

// Add implements audit.Log.
func (s *Store) Add(ctx context.Context, e audit.Entry) error {
	_, err := s.db.Exec(ctx, auditAdd,
		e.ID, e.At, string(e.Stage), e.Actor, e.Action, e.Target, e.RequestID, e.IP, e.Code, string(e.Detail))
	if err != nil {
		return fmt.Errorf("insert audit entry: %w", err)
	}
	return nil
}
