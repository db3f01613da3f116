package testkit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestServeRepeatsSlowGetRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		limit  time.Duration // the first response takes at least this time
		status int           // status of the first response
		count  int
	}{
		"slow and unavailable":   {http.MethodGet, 300 * time.Millisecond, http.StatusServiceUnavailable, 2},
		"fast and unavailable":   {http.MethodGet, 0, http.StatusServiceUnavailable, 1},
		"slow and not found":     {http.MethodGet, 300 * time.Millisecond, http.StatusNotFound, 1},
		"slow POST, unavailable": {http.MethodPost, 300 * time.Millisecond, http.StatusServiceUnavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := 0
			testkit.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if count++; count == 1 {
					ctx, cancel := context.WithTimeout(r.Context(), c.limit)
					defer cancel()
					<-ctx.Done()
					w.WriteHeader(c.status)
				}
			}), httptest.NewRequest(c.method, "/", nil))
			if count != c.count {
				t.Errorf("the handler was called %d times, want %d", count, c.count)
			}
		})
	}
}

func schema(sql string) pg.Schema {
	return pg.Schema{Name: "kit", Files: fstest.MapFS{"0001_t.sql": {Data: []byte(sql)}}}
}

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	t.Parallel()
	s := schema("CREATE TABLE t (v text); GRANT SELECT, INSERT ON t TO kit_rw;")
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			pool := testkit.Pool(t, testkit.Postgres(t, s).URL("kit_rw"))
			if _, err := pool.Exec(t.Context(), "INSERT INTO t VALUES ('mine')"); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
				t.Fatalf("the table has %d rows, want 1; error %v", n, err)
			}
		})
	}
}

func TestDatabaseIsDroppedAfterItsTest(t *testing.T) {
	t.Parallel()
	keeper := testkit.Pool(t, testkit.Postgres(t).Admin)
	var name string
	t.Run("inner", func(t *testing.T) {
		db := testkit.Postgres(t)
		if err := testkit.Pool(t, db.Admin).QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	var left bool
	if err := keeper.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&left); err != nil || left {
		t.Fatalf("the database %s exists after its test: error %v", name, err)
	}
}

func TestTemplateDependsOnTheFiles(t *testing.T) {
	t.Parallel()
	columns := func(sql string) (n int) {
		pool := testkit.Pool(t, testkit.Postgres(t, schema(sql)).Admin)
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'kit' AND table_name = 'u'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if a, b := columns("CREATE TABLE u (a int);"), columns("CREATE TABLE u (a int, b int);"); a != 1 || b != 2 {
		t.Fatalf("tables with %d and %d columns, want 1 and 2", a, b)
	}
}

func TestEachTestHasItsOwnRedis(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			client := testkit.KV(t, testkit.Redis(t))
			if n, err := client.Incr(t.Context(), "sc:n").Result(); err != nil || n != 1 {
				t.Fatalf("counter %d, error %v; want 1", n, err)
			}
		})
	}
}

func TestClock(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	c := testkit.NewClock(at)
	c.Advance(time.Hour)
	if got := c.Now(); !got.Equal(at.Add(time.Hour)) {
		t.Fatalf("clock after Advance: %v", got)
	}
	c.Set(at)
	if got := c.Now(); !got.Equal(at) {
		t.Fatalf("clock after Set: %v", got)
	}
}

// recorder is a testing.TB that records a failure instead of failing the test.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Errorf(f string, args ...any) { r.failed = fmt.Sprintf(f, args...) }
func (r *recorder) Fatalf(f string, args ...any) { r.failed = fmt.Sprintf(f, args...); panic(r) }
func (r *recorder) run(do func(t testing.TB)) (failed string) {
	defer func() { _ = recover(); failed = r.failed }()
	do(r)
	return r.failed
}

func TestEventuallyAndGoldenCanFail(t *testing.T) {
	if got := (&recorder{TB: t}).run(func(t testing.TB) { testkit.Eventually(t, 5*time.Millisecond, func() bool { return false }) }); got == "" {
		t.Error("Eventually did not fail")
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "a.json"), []byte("{\n  \"b\": 1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "a.json", []byte(`{"b":1}`))
	if got := (&recorder{TB: t}).run(func(t testing.TB) { testkit.Golden(t, "a.json", []byte(`{"b":2}`)) }); !strings.Contains(got, "differs") {
		t.Errorf("Golden failed with %q, want the difference", got)
	}
	if got := (&recorder{TB: t}).run(func(t testing.TB) { testkit.Golden(t, "none.json", []byte(`{}`)) }); !strings.Contains(got, "-update") {
		t.Errorf("Golden failed with %q, want a hint to -update", got)
	}
}
