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

// rolePassword is the password of the roles that write in test databases.
const rolePassword = "testkit"

// Database is the Postgres database of one test.
type Database struct {
	Admin string // connection string of the administrator
}

// URL returns the connection string of the database for a role, such as api_rw.
func (d Database) URL(role string) string {
	u, err := localdb.WithUser(d.Admin, role, rolePassword)
	if err != nil {
		panic(err) // not reached: Admin has been parsed before
	}
	return u
}

// Postgres returns a new database with the migrations of schemas. The database is dropped at the end of the test.
func Postgres(t testing.TB, schemas ...pg.Schema) Database {
	t.Helper()
	admin, err := sharedPostgres()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	template, err := templates.get(ctx, admin, schemas)
	if err != nil {
		t.Fatalf("create template database: %v", err)
	}
	name := "sc_test_" + randomName()
	if err := clone(ctx, admin, name, template); err != nil {
		t.Fatalf("clone template database: %v", err)
	}
	t.Cleanup(func() {
		// t.Context has ended when cleanup functions run.
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

// ReadTime is the timeout of reads in tests. It is long because connections take time on a busy machine.
const ReadTime = 20 * time.Second

// Pool returns a connection pool for the database at url. The pool is closed at the end of the test.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), pg.Config{URL: url, ConnectTimeout: ReadTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// PostgresServer starts a private Postgres server for a test that kills or suspends it. The server ends with the test.
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

// templateSet creates each template database once. The name of a template database is a hash of its migrations.
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

// makeTemplate creates a template database. It holds an advisory lock, because other test processes may use the same
// server. The template gets its final name when it is complete.
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
		if err := retryInUse(ctx, func() error { _, err := conn.Exec(ctx, sql); return err }); err != nil {
			return err
		}
	}
	return nil
}

// clone creates a database by copying the files of a template. On a server without durability, this is three times as fast as
// a copy through the write-ahead log.
func clone(ctx context.Context, admin, name, template string) error {
	return retryInUse(ctx, func() error {
		return execAdmin(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY")
	})
}

// retryInUse calls the function do. While do fails because another session still uses the database, it repeats the call, up to
// 200 times.
func retryInUse(ctx context.Context, do func() error) error {
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
