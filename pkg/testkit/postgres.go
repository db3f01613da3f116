package testkit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/pg"
)

// rolePassword is the password of every writing role in test databases.
const rolePassword = "testkit"

// Database is one test's own database.
type Database struct {
	Admin string // connection string of the server's administrator
}

// URL is the connection string of a role, for example "api_rw".
func (d Database) URL(role string) string {
	u, err := localdb.WithUser(d.Admin, role, rolePassword)
	if err != nil {
		panic(err) // Admin was parsed before
	}
	return u
}

// Postgres gives the test a fresh database with the given schemas migrated. It is
// dropped when the test ends.
func Postgres(t testing.TB, schemas ...pg.Schema) Database {
	t.Helper()
	admin, err := sharedPostgres()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	template, err := templates.get(ctx, admin, schemas)
	if err != nil {
		t.Fatalf("make template database: %v", err)
	}
	name := "sc_test_" + randomName()
	if err := clone(ctx, admin, name, template); err != nil {
		t.Fatalf("clone template database: %v", err)
	}
	t.Cleanup(func() {
		// The test's context has ended by now.
		if err := execAdmin(context.Background(), admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	url, err := localdb.WithDatabase(admin, name)
	if err != nil {
		t.Fatal(err)
	}
	return Database{Admin: url}
}

// ReadTime is the time limit of reads of tests: on a busy machine, a connection takes long.
const ReadTime = 20 * time.Second

// Pool opens a pool that closes with the test.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), pg.Config{URL: url, ConnectTimeout: ReadTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// PostgresServer starts a test server of the test's own, to kill or to hang.
func PostgresServer(t testing.TB) *localdb.Postgres {
	t.Helper()
	server, err := localdb.StartPostgres(t.Context(), localdb.PostgresConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(context.Background()) })
	return server
}

var sharedPostgres = sync.OnceValues(func() (string, error) {
	server, err := localdb.StartPostgres(context.Background(), localdb.PostgresConfig{URL: os.Getenv("TEST_DATABASE_URL")})
	if err != nil {
		return "", err
	}
	servers.add(server.Stop)
	return server.URL(), nil
})

// templateSet makes each template once; the name is the hash of its migrations.
type templateSet struct {
	mu   sync.Mutex
	done map[string]bool
}

var templates = templateSet{done: map[string]bool{}}

func (s *templateSet) get(ctx context.Context, admin string, schemas []pg.Schema) (string, error) {
	if len(schemas) == 0 {
		return "template1", nil
	}
	name, err := templateName(schemas)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[name] {
		return name, nil
	}
	if err := makeTemplate(ctx, admin, name, schemas); err != nil {
		return "", err
	}
	s.done[name] = true
	return name, nil
}

// makeTemplate works under a lock of the server, which other test processes may
// share, and shows the template under its name only when it is complete.
func makeTemplate(ctx context.Context, admin, name string, schemas []pg.Schema) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return err
	}
	var ready bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&ready); err != nil || ready {
		return err
	}
	draft := name + "_draft"
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)", "CREATE DATABASE " + draft} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	url, err := localdb.WithDatabase(admin, draft)
	if err != nil {
		return err
	}
	for _, s := range schemas {
		s.Password = rolePassword
		if _, err := pg.Migrate(ctx, url, s); err != nil {
			return err
		}
	}
	for _, sql := range []string{"ALTER DATABASE " + draft + " ALLOW_CONNECTIONS false", "ALTER DATABASE " + draft + " RENAME TO " + name} {
		if err := patiently(ctx, func() error { _, err := conn.Exec(ctx, sql); return err }); err != nil {
			return err
		}
	}
	return nil
}

// clone copies files: with durability off that is three times as fast as the log.
func clone(ctx context.Context, admin, name, template string) error {
	return patiently(ctx, func() error {
		return execAdmin(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY")
	})
}

// patiently repeats what fails because a session has not quite left the database.
func patiently(ctx context.Context, do func() error) error {
	for n := 0; ; n++ {
		err := do()
		var pgErr *pgconn.PgError
		if err == nil || n == 200 || !errors.As(err, &pgErr) || pgErr.Code != "55006" {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func execAdmin(ctx context.Context, admin, sql string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

func templateName(schemas []pg.Schema) (string, error) {
	h := sha256.New()
	for _, s := range schemas {
		fmt.Fprintf(h, "schema %s\n", s.Name)
		err := fs.WalkDir(s.Files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".sql") {
				return err
			}
			raw, err := fs.ReadFile(s.Files, path)
			fmt.Fprintf(h, "%s %d\n%s", path, len(raw), raw)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return "sc_template_" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

func randomName() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}
