package recovery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// maxLockWait is the longest time for which a migration may block writers.
const maxLockWait = 200 * time.Millisecond

// migrationSession is the application name of the database sessions in which migrations run.
const migrationSession = "migrate"

// upgrade is a system of the last release whose database is migrated.
type upgrade struct {
	*stack.Stack
	operators []*stack.Operator
	markets   []string // markets on which calls are filed
	claims    []string // markets that are resolved in the meantime

	sent, failed atomic.Int64
	counted      atomic.Bool // set when failures count as errors
	took, waits  stack.Times

	mu      sync.Mutex
	longest string // statement with the longest wait
}

// TestMigrationsUnderLoad runs the services of the last release with 200 calls per second, and migrates their database with the
// programs of this tree. No request may fail, and no writer may wait longer than 200 ms for a lock of a migration. On the new
// schema, the services of the release must read, file, resolve and score as before.
func TestMigrationsUnderLoad(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	r := lastRelease(t, root)
	services := r.programs(t, root)
	u := &upgrade{Stack: stack.Start(t, stack.ScoredAtOnce(), stack.ProgramsIn(withTools(t, services)))}
	u.fill(t)
	doc, err := openapi.Load(services)
	if err != nil {
		t.Fatal(err)
	}
	before := u.statuses(t, doc)

	stop := make(chan struct{})
	var load sync.WaitGroup
	for _, run := range []func(*testing.T, <-chan struct{}){u.fileCalls, u.resolveMarkets, u.lockTables, u.watchLocks} {
		load.Go(func() { run(t, stop) })
	}
	calm := u.waitForStableLoad(t)
	for _, schema := range schemas {
		if from := u.migrate(t, schema); from != r.level[schema] {
			t.Errorf("schema %s was at level %d before the migration; deploy/release.txt states %d", schema, from, r.level[schema])
		}
	}
	stack.Wait(t, time.Second)
	close(stop)
	load.Wait()

	slowest := u.waits.Quantile(1)
	// The limit includes the delays of the machine before the migrations.
	if slowest > maxLockWait+calm {
		t.Errorf("a writer waited %v for a lock of a migration (%s); want at most %v", slowest, u.longest, maxLockWait+calm)
	}
	if u.sent.Load() < 100 {
		t.Errorf("%d requests were sent; want at least 100", u.sent.Load())
	}
	t.Logf("%d requests, the slowest took %v, %v before the migrations; longest lock wait %v", u.sent.Load(), u.took.Quantile(1), calm, slowest)
	for name, status := range u.statuses(t, doc) {
		if status != before[name] {
			t.Errorf("%s of the release is answered %d on the new schema; want %d as before", name, status, before[name])
		}
	}
	u.requireScoring(t)
}

// fill creates operators, calls and results, which migrations may have to process.
func (u *upgrade) fill(t *testing.T) {
	t.Helper()
	n := stack.Size(t, 400, 1000, 10_000)
	u.operators = u.SeedOperators(t, n)
	calls := func(n int) string {
		market, list := u.NewNativeMarket(t, 5000, nil), make([]stack.StoredCall, n)
		for i := range list {
			price := rand.IntN(10001)
			list[i] = stack.StoredCall{Operator: u.operators[i].ID, Yes: rand.IntN(2) == 0, Price: price, Basis: min(10000, price+rand.IntN(200))}
		}
		u.InsertCalls(t, market, list)
		return market
	}
	for i := range stack.Size(t, 1, 5, 50) {
		u.Finalize(t, calls(n), []string{"YES", "NO"}[i%2])
	}
	for range 12 {
		u.claims = append(u.claims, calls(100))
	}
	for range 10 {
		u.markets = append(u.markets, u.NewNativeMarket(t, 5000, nil))
	}
	u.RefreshBoards(t)
}

// statuses reads each public operation of a document and returns the HTTP statuses by operation. The status is -1 for a
// degraded answer.
func (u *upgrade) statuses(t *testing.T, doc *openapi.Document) map[string]int {
	t.Helper()
	out := map[string]int{}
	values := map[string]string{"marketId": u.markets[0], "market": u.markets[0], "handle": u.operators[0].Handle}
	crowd := stack.NewCrowd(8)
	for _, op := range doc.Operations {
		if op.Method != http.MethodGet || !op.Public() || op.Streams() {
			continue
		}
		for range 5 {
			a := crowd.Retry(t, http.MethodGet, u.Base(op.Host, 0)+op.Fill(values))
			if out[op.Name()] = a.Status; a.Header.Get("X-Degraded") == "" {
				break
			}
			out[op.Name()] = -1
			stack.Wait(t, 200*time.Millisecond)
		}
	}
	return out
}

// waitForStableLoad waits for three seconds without a failed request, and returns the duration of the slowest request so far.
// Failures after it count as errors. If the machine is too slow for the load, the test fails here and not during the
// migrations.
func (u *upgrade) waitForStableLoad(t *testing.T) time.Duration {
	t.Helper()
	failed, calm := u.failed.Load(), 0
	for range 40 {
		stack.Wait(t, time.Second)
		if now := u.failed.Load(); now != failed {
			failed, calm = now, 0
		} else if calm++; calm == 3 {
			u.counted.Store(true)
			return u.took.Quantile(1)
		}
	}
	t.Fatal("this machine is too slow: it did not answer 200 calls per second before the migrations")
	return 0
}

// every calls do repeatedly until stop is closed, with a pause before each call.
func every(stop <-chan struct{}, pause time.Duration, do func(i int)) {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-ticks.C:
			do(i)
		}
	}
}

// fileCalls files 200 calls per second.
func (u *upgrade) fileCalls(t *testing.T, stop <-chan struct{}) {
	var pending sync.WaitGroup
	defer pending.Wait()
	every(stop, 5*time.Millisecond, func(i int) {
		c := stack.SentCall{
			Operator: u.operators[i%len(u.operators)], Market: u.markets[i/len(u.operators)%len(u.markets)], Yes: i%2 == 0, Price: 5000,
		}
		pending.Go(func() {
			began := time.Now()
			a, err := c.Send(t, u.Hub)
			u.record(t, began, a, err)
		})
	})
}

// resolveMarkets resolves a market every 400 ms, so that calls are scored at the same time.
func (u *upgrade) resolveMarkets(t *testing.T, stop <-chan struct{}) {
	client := stack.NewClient()
	every(stop, 400*time.Millisecond, func(i int) {
		if i >= len(u.claims) {
			return
		}
		began := time.Now()
		a, err := client.Try(t, http.MethodPost, u.Hub+"/api/resolution/finalize", u.Admin(),
			stack.Body(stack.JSON{"marketId": u.claims[i], "verdict": []string{"YES", "NO"}[i%2]}))
		u.record(t, began, a, err)
	})
}

func (u *upgrade) record(t *testing.T, began time.Time, a stack.Answer, err error) {
	u.sent.Add(1)
	u.took.Add(time.Since(began))
	if err == nil && a.Status == http.StatusOK {
		return
	}
	u.failed.Add(1)
	if u.counted.Load() {
		t.Errorf("a request during the migrations was answered %d %.300s, %v", a.Status, a.Body, err)
	}
}

const writableTables = `
SELECT string_agg(format('ONLY %I.%I', n.nspname, c.relname), ', ' ORDER BY 1) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('api', 'hub', 'clock') AND c.relkind IN ('r', 'p') AND NOT c.relispartition`

// lockTables takes the lock that a writer needs on every table, 50 times per second.
func (u *upgrade) lockTables(t *testing.T, stop <-chan struct{}) {
	u.onSession(t, stop, 20*time.Millisecond, func(db *pgx.Conn) error {
		var tables string
		if err := db.QueryRow(t.Context(), writableTables).Scan(&tables); err != nil {
			return err
		}
		_, err := db.Exec(t.Context(), "BEGIN; LOCK TABLE "+tables+" IN ROW EXCLUSIVE MODE; COMMIT")
		return err
	})
}

const longestLockWait = `
SELECT extract(epoch FROM clock_timestamp() - l.waitstart)::float8 * 1000,
    l.mode || ' of ' || coalesce(l.relation::regclass::text, l.locktype) || ' for ' || left(a.query, 80)
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE NOT l.granted AND l.waitstart IS NOT NULL AND a.application_name <> $1 AND EXISTS (
    SELECT FROM pg_stat_activity m WHERE m.application_name = $1 AND m.pid = ANY (pg_blocking_pids(l.pid)))
ORDER BY l.waitstart LIMIT 1`

// watchLocks reads, 200 times per second, the longest time for which a session has been waiting for a migration.
func (u *upgrade) watchLocks(t *testing.T, stop <-chan struct{}) {
	u.onSession(t, stop, 5*time.Millisecond, func(db *pgx.Conn) error {
		var ms float64
		var statement string
		if err := db.QueryRow(t.Context(), longestLockWait, migrationSession).Scan(&ms, &statement); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		waited := time.Duration(ms * float64(time.Millisecond))
		u.mu.Lock()
		defer u.mu.Unlock()
		if waited > u.waits.Quantile(1) {
			u.longest = statement
		}
		u.waits.Add(waited)
		return nil
	})
}

// onSession calls do repeatedly on a separate connection until stop is closed.
func (u *upgrade) onSession(t *testing.T, stop <-chan struct{}, pause time.Duration, do func(db *pgx.Conn) error) {
	db, err := pgx.Connect(t.Context(), u.session("load"))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	every(stop, pause, func(int) {
		if err := do(db); err != nil {
			t.Error(err)
		}
	})
}

// session returns a database connection string with an application name.
func (u *upgrade) session(name string) string {
	separator := "?"
	if strings.Contains(u.DatabaseURL, "?") {
		separator = "&"
	}
	return u.DatabaseURL + separator + "application_name=" + name
}

// migrate migrates a schema with the program of this tree and returns the number of migrations that were applied before.
func (u *upgrade) migrate(t *testing.T, schema string) (from int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(stack.Bin(t), schema), "migrate")
	cmd.Env = []string{"ENV=test", "MIGRATE_DATABASE_URL=" + u.session(migrationSession), "DB_RW_PASSWORD=" + u.Secret(t, "databasePassword")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s migrate: %v\n%s", schema, err, out)
	}
	var to int
	if _, err := fmt.Sscanf(string(out), "schema "+schema+": version %d, was %d", &to, &from); err != nil {
		t.Fatalf("%s migrate printed %q: %v", schema, out, err)
	}
	return from
}

// requireScoring lets the services of the release resolve a market on the new schema. It then updates the leaderboards with the
// program of this tree, because the release cannot update them on the new schema.
func (u *upgrade) requireScoring(t *testing.T) {
	t.Helper()
	market := u.markets[0]
	u.Finalize(t, market, "YES")
	calls := stack.Query[int](t, u.Stack, "SELECT count(*) FROM api.signals WHERE market_id = $1", market)
	if calls == 0 {
		t.Errorf("market %s has no calls; want at least one", market)
	}
	stack.Eventually(t, 20*time.Second, "a result of each call that the release resolved on the new schema", func() bool {
		return stack.Query[int](t, u.Stack, `SELECT count(*) FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id
			WHERE s.market_id = $1`, market) == calls
	})
	for _, command := range []string{"fill", "verify"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(stack.Bin(t), "api"), "boards", command)
		cmd.Env = []string{"ENV=test", "DATABASE_URL=" + u.ServiceDatabase(t, "api")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("api boards %s: %v\n%.600s", command, err, out)
		}
	}
}
