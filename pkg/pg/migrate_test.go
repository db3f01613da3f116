package pg_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func files(sql ...string) fstest.MapFS {
	out := fstest.MapFS{}
	names := []string{"0001_one.sql", "0002_two.sql", "0003_three.sql"}
	for i, s := range sql {
		out[names[i]] = &fstest.MapFile{Data: []byte(s)}
	}
	return out
}

const (
	one = "CREATE TABLE notes (id int PRIMARY KEY, body text NOT NULL);\nGRANT SELECT, INSERT ON notes TO demo_rw;"
	two = "ALTER TABLE notes ADD COLUMN at timestamptz;"
)

func demo(f fs.FS) pg.Schema {
	return pg.Schema{Name: "demo", Files: f, Password: "secret'\"\\ of many kinds"}
}

func migrate(t *testing.T, url string, f fs.FS) pg.Migrated {
	t.Helper()
	done, err := pg.Migrate(t.Context(), url, demo(f))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func code(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

func TestMigrateRunsEachFileOnce(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	if got := migrate(t, db.Admin, files(one)); got != (pg.Migrated{From: 0, To: 1}) {
		t.Fatalf("first migration: %+v", got)
	}
	if got := migrate(t, db.Admin, files(one, two)); got != (pg.Migrated{From: 1, To: 2}) {
		t.Fatalf("second migration: %+v", got)
	}
	if got := migrate(t, db.Admin, files(one, two)); got != (pg.Migrated{From: 2, To: 2}) {
		t.Fatalf("migration without pending files: %+v", got)
	}
	conn := connect(t, db.URL("demo_rw"))
	if err := pg.CheckSchema(t.Context(), conn, demo(files(one, two))); err != nil {
		t.Fatal(err)
	}
	if err := pg.CheckSchema(t.Context(), conn, demo(files(one, two, "SELECT 1;"))); err == nil {
		t.Fatal("CheckSchema accepted version 2 for a program that requires version 3")
	}
}

func TestMigrateRejects(t *testing.T) {
	t.Parallel()
	gap := files(one)
	gap["0003_three.sql"] = &fstest.MapFile{Data: []byte("SELECT 1;")}
	for name, c := range map[string]struct {
		then fs.FS
		want string
	}{
		"a newer database":   {files(one), "is newer than this program"},
		"a changed file":     {files(one+"\n-- later thought", two), "was changed after it ran"},
		"a gap":              {gap, "Missing migration 2"},
		"a statement in bad": {files(one, two, "CREATE TABLE kept (); SELECT no_such_function();"), "no_such_function"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testkit.Postgres(t)
			migrate(t, db.Admin, files(one, two))
			_, err := pg.Migrate(t.Context(), db.Admin, demo(c.then))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("want %q, got %v", c.want, err)
			}
			var left bool
			if err := connect(t, db.Admin).QueryRow(t.Context(), "SELECT to_regclass('demo.kept') IS NOT NULL").Scan(&left); err != nil || left {
				t.Fatal("a failed migration left a table", err)
			}
		})
	}
	if _, err := pg.Migrate(t.Context(), testkit.Postgres(t).Admin, pg.Schema{Name: "demo", Files: files(one)}); err == nil {
		t.Fatal("Migrate accepted an empty password")
	}
}

// TestMigrationIsRetriedAfterADeadlock runs a migration whose first try ends with the error of a deadlock. A rollback does not reset
// the sequence that counts the tries.
func TestMigrationIsRetriedAfterADeadlock(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	migrate(t, db.Admin, files("CREATE SEQUENCE tries;"))
	deadlock := "DO $$ BEGIN IF nextval('tries') = 1 THEN RAISE EXCEPTION 'once' USING ERRCODE = 'deadlock_detected'; END IF; END $$;"
	if got := migrate(t, db.Admin, files("CREATE SEQUENCE tries;", deadlock)); got.To != 2 {
		t.Errorf("the migration ended at version %d; want 2", got.To)
	}
}

func TestManyMigratorsAtOnce(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := pg.Migrate(t.Context(), db.Admin, demo(files(one, two))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestMigratorsOfTwoDatabases checks that concurrent migrations of databases on one server succeed. The databases share
// roles but not the migration lock.
func TestMigratorsOfTwoDatabases(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 4 {
		db := testkit.Postgres(t)
		wg.Go(func() {
			if _, err := pg.Migrate(t.Context(), db.Admin, demo(files(one))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestMigrationDoesNotBlockWriters(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	migrate(t, db.Admin, files(one))
	holder := connect(t, db.Admin)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE demo.notes IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := pg.Migrate(t.Context(), db.Admin, demo(files(one, two)))
		done <- err
	}()
	// The migration waits only briefly for its lock and retries, so writers that queue after it are not blocked for
	// long.
	writer := connect(t, db.Admin)
	if _, err := writer.Exec(t.Context(), "SET lock_timeout = '2s'"); err != nil {
		t.Fatal(err)
	}
	var longest time.Duration
	for i := range 20 {
		began := time.Now()
		if _, err := writer.Exec(t.Context(), "INSERT INTO demo.notes (id, body) VALUES ($1, '')", i); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(began))
	}
	if longest > time.Second {
		t.Fatalf("a writer waited %v because of the migration, want at most 1 s", longest)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestPrivilegesOfTheRoles(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, demo(files(one)))
	conn := connect(t, db.URL("demo_rw"))
	if _, err := conn.Exec(t.Context(), "INSERT INTO notes VALUES (1, 'found by search path')"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"UPDATE notes SET body = ''", "DELETE FROM notes", "TRUNCATE notes", "DROP TABLE notes",
		"CREATE TABLE mine ()", "CREATE TABLE public.mine ()", "ALTER TABLE notes DISABLE TRIGGER ALL",
		"SET ROLE demo_migrator", "SET session_replication_role = replica", "CREATE ROLE more",
		"UPDATE schema_version SET version = 0",
	} {
		if _, err := conn.Exec(t.Context(), sql); code(err) != "42501" {
			t.Errorf("%s: error %v, want permission denied", sql, err)
		}
	}
	var login bool
	if err := conn.QueryRow(t.Context(), "SELECT rolcanlogin FROM pg_roles WHERE rolname = 'demo_migrator'").Scan(&login); err != nil || login {
		t.Error("the role that owns the schema can log in", err)
	}
	var searchPath string
	if err := conn.QueryRow(t.Context(), "SHOW search_path").Scan(&searchPath); err != nil || searchPath != "demo, pg_temp" {
		t.Errorf("search_path %q, error %v; want demo, pg_temp", searchPath, err)
	}
}

func TestPasswordIsStoredAsVerifier(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	// The schema has a separate name because all databases of the server share roles.
	s := pg.Schema{Name: "verifier", Files: files("CREATE TABLE t ();"), Password: "p w with ' and ü"}
	if _, err := pg.Migrate(t.Context(), db.Admin, s); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, db.Admin)
	var stored string
	if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = 'verifier_rw'").Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stored, "SCRAM-SHA-256$4096:") || strings.Contains(stored, s.Password) {
		t.Fatalf("stored password %q, want a SCRAM verifier", stored)
	}
}
