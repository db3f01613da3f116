package pg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/tern/v2/migrate"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

const (
	// migrateLock is the key of the advisory lock that serializes the migrations of a database, for all schemas.
	migrateLock = 5_021_664_117
	// lockWait is the maximum wait of a migration for a table lock. All other statements on the table wait until the
	// migration gets the lock or gives up. The migration therefore gives up soon and is retried up to lockRetries
	// times.
	lockWait    = "150ms"
	lockRetries = 100
)

// Schema describes the Postgres schema of a service: its migrations and the role that the service uses.
type Schema struct {
	Name     string // name of the schema; its roles are <Name>_migrator and <Name>_rw
	Files    fs.FS  // files NNNN_name.sql in the root, numbered from 1 without gaps
	Password string // password of the role <Name>_rw
}

// Migrated contains the version of the schema before and after Migrate.
type Migrated struct{ From, To int }

// Migrate creates missing roles and the schema. It then runs the pending files as <Name>_migrator, each in a
// transaction, under an advisory lock. It returns an error if the database is newer than the files, or if a file was
// changed after it ran. It cannot migrate to an older version.
func Migrate(ctx context.Context, adminURL string, s Schema) (Migrated, error) {
	var done Migrated
	if s.Password == "" {
		return done, errors.New("the password of the role that writes is not set")
	}
	cfg, err := pgx.ParseConfig(adminURL)
	if err != nil {
		return done, errors.New("the database URL is invalid")
	}
	cfg.ConnectTimeout = 10 * time.Second
	cfg.RuntimeParams["search_path"] = s.Name
	cfg.RuntimeParams["lock_timeout"] = lockWait
	cfg.RuntimeParams["client_min_messages"] = "warning"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return done, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := lockMigrations(ctx, conn); err != nil {
		return done, err
	}
	if err := bootstrap(ctx, conn, s); err != nil {
		return done, fmt.Errorf("prepare schema %s: %w", s.Name, err)
	}
	if done, err = s.run(ctx, conn); err != nil {
		return done, fmt.Errorf("migrate %s: %w", s.Name, err)
	}
	return done, nil
}

// lockMigrations waits for the advisory lock of migrations. It polls, because lock_timeout would end a blocking wait.
func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	for {
		var got bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(migrateLock)).Scan(&got); err != nil {
			return fmt.Errorf("lock migrations: %w", err)
		}
		if got {
			return nil
		}
		if err := dbtime.Sleep(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("lock migrations: %w", err)
		}
	}
}

func (s Schema) run(ctx context.Context, conn *pgx.Conn) (Migrated, error) {
	var done Migrated
	if _, err := conn.Exec(ctx, "SET ROLE "+quote(s.owner())); err != nil {
		return done, err
	}
	m, err := migrate.NewMigrator(ctx, conn, s.Name+".schema_version")
	if err != nil {
		return done, err
	}
	if err := m.LoadMigrations(s.Files); err != nil {
		return done, err
	}
	files := make([][]byte, len(m.Migrations))
	for i, f := range m.Migrations {
		raw, err := fs.ReadFile(s.Files, f.Name)
		if err != nil {
			return done, err
		}
		sum := sha256.Sum256(raw)
		files[i] = sum[:]
	}
	version, err := m.GetCurrentVersion(ctx)
	if err != nil {
		return done, err
	}
	done = Migrated{From: int(version), To: int(version)}
	if int(version) > len(files) {
		return done, fmt.Errorf("the database has version %d and is newer than this program (version %d)", version, len(files))
	}
	if err := s.checkDrift(ctx, conn, files); err != nil {
		return done, err
	}
	m.OnStart = func(sequence int32, name, _, _ string) {
		// This runs in the transaction of the migration. An error aborts the transaction, so the next statement
		// returns it.
		_, _ = conn.Exec(ctx, `INSERT INTO schema_files (version, name, sha256) VALUES ($1, $2, $3)
			ON CONFLICT (version) DO UPDATE SET name = excluded.name, sha256 = excluded.sha256, applied_at = now()`,
			sequence, name, files[sequence-1])
	}
	if err := withLockRetries(ctx, m.Migrate); err != nil {
		return done, err
	}
	done.To = len(files)
	_, err = conn.Exec(ctx, "GRANT SELECT ON schema_version, schema_files TO "+quote(s.writer()))
	return done, err
}

// checkDrift returns an error if a migration file was changed after it ran. files contains the SHA-256 sums of the
// files.
func (s Schema) checkDrift(ctx context.Context, conn *pgx.Conn, files [][]byte) error {
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_files (
		version int PRIMARY KEY, name text NOT NULL, sha256 bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, `SELECT f.version, f.name, f.sha256 FROM schema_files f, schema_version v
		WHERE f.version <= v.version ORDER BY f.version`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var version int
		var name string
		var sum []byte
		if err := rows.Scan(&version, &name, &sum); err != nil {
			return err
		}
		if !bytes.Equal(sum, files[version-1]) {
			return fmt.Errorf("%s was changed after it ran; add a new file instead", name)
		}
	}
	return rows.Err()
}

// withLockRetries calls the function run. If run fails with a lock timeout or a deadlock, it calls run again, up to lockRetries
// times. Each migration is one transaction, so a retry starts with the first migration that was not committed.
func withLockRetries(ctx context.Context, run func(context.Context) error) error {
	for n := 0; ; n++ {
		err := run(ctx)
		var pgErr *pgconn.PgError
		if err == nil || n == lockRetries || !errors.As(err, &pgErr) || pgErr.Code != "55P03" && pgErr.Code != "40P01" {
			return err
		}
		_ = dbtime.Sleep(ctx, 100*time.Millisecond)
	}
}

// CheckSchema returns an error unless the database has at least the migrations of s. A service is not ready until these
// migrations have run.
func CheckSchema(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, s Schema,
) error {
	names, err := migrate.FindMigrations(s.Files)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	var version int
	if err := db.QueryRow(ctx, "SELECT version FROM "+quote(s.Name)+".schema_version").Scan(&version); err != nil {
		return fmt.Errorf("read schema version: %w", Fault(err))
	}
	if version < len(names) {
		return fmt.Errorf("schema %s is at version %d, this program requires %d; run its migrate command", s.Name, version, len(names))
	}
	return nil
}
