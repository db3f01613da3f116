package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// longestWait is how long a migration may make others wait for a lock.
const longestWait = 200 * time.Millisecond

// b6 runs the programs of the last release, has people call through their door, migrates
// the database under them with the programs of today, and looks whether those of the
// release go on as before. In a clone that cannot have the release, transactions that lock
// every table as a writer does stand in for it, and the row says so.
var b6 = frame.Row{
	ID: "B6", Title: "migrations run under load, the last release works on the new schema", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "a migration holds the calls for two seconds"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		r, err := lastRelease(env.Root)
		if err != nil {
			return nil, err
		}
		u := &upgrade{env: env, seen: seen, release: r}
		switch u.programs, err = r.programs(ctx, env.Root); {
		case errors.Is(err, errNoHistory):
			err = u.database(ctx)
		case err == nil:
			err = u.system(ctx)
		}
		if err != nil {
			return nil, err
		}
		defer u.stop()
		if err := u.migrated(ctx); err != nil {
			return nil, err
		}
		slowest := u.waits.At(1)
		seen.Check(slowest <= longestWait+max(u.calm, atLeast), "a writer waited %v for a lock that a migration held or asked for: %s", slowest.Round(time.Millisecond), u.longest)
		seen.Check(u.failed.Load() == 0, "%d requests failed", u.failed.Load())
		seen.Check(u.done.Load() > 100, "only %d writes were tried", u.done.Load())
		seen.Figure("slowestWrite", u.took.At(1))
		seen.Figure("slowestWriteBefore", u.calm)
		seen.Figure("longestWait", slowest)
		seen.Figure("lastRelease", u.programs != "")
		seen.Promise("failed 0, longest lock wait ≤ 200 ms", fmt.Sprintf("failed %d, %d ms", u.failed.Load(), slowest.Milliseconds()))
		under := fmt.Sprintf("calls to release %s", r.commit[:8])
		if u.programs == "" {
			under = "locks of writers: " + errNoHistory.Error()
		}
		seen.Volume("%d migrations in %v under %s %s, %d reads of the release", u.files, u.lasted.Round(time.Millisecond), frame.Number(int(u.done.Load())), under, u.reads)
		return seen, nil
	},
}

// upgrade is a database of the last release on its way to this one.
type upgrade struct {
	env      *frame.Env
	seen     *frame.Seen
	release  release
	programs string     // of the release; empty: none could be had
	old      *frame.Env // the system that runs them
	admin    string     // address of the database
	password string     // of the writing roles
	stops    []func()

	ops     []client.Operator
	markets []string // that are called on
	claims  []string // that are resolved meanwhile

	done, failed atomic.Int64
	counts       atomic.Bool // what fails from now on
	took, waits  frame.Times
	calm         time.Duration // the slowest write before
	mu           sync.Mutex
	longest      string // what waited longest
	files        int    // migrations that ran
	lasted       time.Duration
	reads        int
}

func (u *upgrade) stop() {
	for i := range u.stops {
		u.stops[len(u.stops)-1-i]()
	}
}

// database makes one at the level of the release beside that of the system.
func (u *upgrade) database(ctx context.Context) (err error) {
	if u.password, err = u.env.Stack.Secret("databasePassword"); err != nil {
		return err
	}
	if u.admin, err = localdb.EnsureDatabase(ctx, u.env.Stack.DatabaseURL, "b6"); err != nil {
		return err
	}
	u.stops = append(u.stops, func() {
		_, err := u.env.DB.Exec(context.WithoutCancel(ctx), "DROP DATABASE b6 WITH (FORCE)")
		u.seen.Check(err == nil, "drop the database: %v", err)
	})
	for _, schema := range schemas {
		if err := u.release.raise(ctx, u.env.Root, schema, u.admin, u.password); err != nil {
			return err
		}
	}
	return nil
}

// system starts the programs of the release, with a record of some size.
func (u *upgrade) system(ctx context.Context) (err error) {
	dir := filepath.Join(filepath.Dir(u.env.Stack.Dir()), "release")
	if err := u.release.bin(u.programs, u.env.Stack.Bin(), dir+"-bin"); err != nil {
		return err
	}
	s, err := stack.Start(ctx, stack.Options{Bin: dir + "-bin", Dir: dir, Hubs: 1})
	if err != nil {
		return err
	}
	u.stops = append(u.stops, func() { s.Stop(); _ = os.RemoveAll(dir) })
	db, err := pgxpool.New(ctx, s.DatabaseURL)
	if err != nil {
		u.stop()
		return err
	}
	u.old = &frame.Env{Stack: s, Client: client.New(), DB: db, Root: u.env.Root, Seed: u.env.Seed, Size: u.env.Size, Hubs: []string{s.Hub}, Doubt: &frame.Doubts{}}
	u.stops = append(u.stops, db.Close, u.old.Client.Close)
	u.admin = s.DatabaseURL
	if u.password, err = s.Secret("databasePassword"); err == nil {
		err = u.fill(ctx)
	}
	if err != nil {
		u.stop()
	}
	return err
}

// fill puts operators and results on record, which migrations may have to go through.
func (u *upgrade) fill(ctx context.Context) (err error) {
	n := u.env.Of(400, 2000, 10_000)
	if u.ops, err = pool(ctx, u.old, "b6_", n, 1); err != nil {
		return err
	}
	for i := range u.env.Of(1, 10, 50) {
		m, err := plantLarge(ctx, u.old, u.env.Rand("B6"), fmt.Sprintf("B6 %d", i), u.ops, n)
		if err != nil {
			return err
		}
		if err := u.old.Client.Finalize(ctx, u.old.Hub(0), u.old.Admin(), m.id, []string{"YES", "NO"}[i%2]).Into(http.StatusOK, nil); err != nil {
			return err
		}
	}
	for i := range 12 {
		m, err := plantLarge(ctx, u.old, u.env.Rand("B6"), fmt.Sprintf("B6 claim %d", i), u.ops, 100)
		if err != nil {
			return err
		}
		u.claims = append(u.claims, m.id)
	}
	if u.markets, err = markets(ctx, u.old, "B6", 10); err != nil {
		return err
	}
	return client.Rank(ctx, u.old.DB)
}

// migrated runs the migrations under load.
func (u *upgrade) migrated(ctx context.Context) error {
	before := map[string]int{}
	if u.old != nil {
		var err error
		if before, err = u.crawl(ctx); err != nil {
			return err
		}
	}
	loaded, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var errs [4]error
	for i, run := range []func(context.Context) error{u.write, u.claim, u.lock, u.watch} {
		wg.Go(func() { errs[i] = run(loaded) })
	}
	err := u.calms(ctx)
	began := time.Now()
	for _, schema := range schemas {
		if err == nil {
			err = u.migrate(ctx, schema)
		}
	}
	u.lasted = time.Since(began)
	if err == nil {
		err = wait(ctx, time.Now().Add(time.Second))
	}
	end()
	wg.Wait()
	if err = errors.Join(err, errors.Join(errs[:]...)); err != nil || u.old == nil {
		return err
	}
	return u.goesOn(ctx, before)
}

const migrating = "b6-migrate"

// named is the address of the database for sessions of a name.
func (u *upgrade) named(name string) string {
	mark := "?"
	if strings.Contains(u.admin, "?") {
		mark = "&"
	}
	return u.admin + mark + "application_name=" + name
}

// migrate brings one schema to the level of today, with the program of today.
func (u *upgrade) migrate(ctx context.Context, schema string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(u.env.Stack.Bin(), schema), "migrate")
	cmd.Env = []string{"ENV=test", "MIGRATE_DATABASE_URL=" + u.named(migrating), "DB_RW_PASSWORD=" + u.password, "TEETH=" + u.env.Stack.Teeth()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s migrate: %w\n%s", schema, err, out)
	}
	var to, from int
	if _, err := fmt.Sscanf(string(out), "schema "+schema+": version %d, was %d", &to, &from); err != nil {
		return fmt.Errorf("%s migrate: %q: %w", schema, out, err)
	}
	u.seen.Check(from == u.release.level[schema], "schema %s was at level %d, and the release is noted with %d", schema, from, u.release.level[schema])
	u.files += to - from
	return nil
}

// crawl reads whatever the release lets anybody read, and gives the status of each.
func (u *upgrade) crawl(ctx context.Context) (map[string]int, error) {
	doc, err := openapi.Load(u.programs)
	if err != nil {
		return nil, err
	}
	r := &ring{market: u.markets[0]}
	r.Handle = u.ops[0].Handle
	out := map[string]int{}
	var mu sync.Mutex
	frame.Each(len(doc.Operations), abreast, func(i int) {
		op := doc.Operations[i]
		if op.Method != http.MethodGet || !op.Public() || holds(op) {
			return
		}
		status := 0
		for again := range 5 { // a machine that is busy is no difference
			a := patiently(ctx, u.old, client.Request{URL: hostOf(u.old, op.Host, i) + r.path(op)})
			if status = a.Status; a.Header.Get("X-Degraded") == "" || wait(ctx, time.Now().Add(time.Duration(again)*200*time.Millisecond)) != nil {
				break
			}
			status = -1
		}
		mu.Lock()
		defer mu.Unlock()
		out[op.Name()] = status
	})
	return out, nil
}

// goesOn has the release read as before, and file, resolve and score.
func (u *upgrade) goesOn(ctx context.Context, before map[string]int) error {
	after, err := u.crawl(ctx)
	if err != nil {
		return err
	}
	u.reads = len(after)
	for name, status := range after {
		u.seen.Check(status == before[name], "%s of the release answers %d on the new schema, and %d before", name, status, before[name])
	}
	market, hub := u.markets[0], u.old.Hub(0)
	calls, err := u.old.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1", market)
	if err != nil {
		return err
	}
	a := u.old.Client.Finalize(ctx, hub, u.old.Admin(), market, "YES")
	u.seen.Check(a.Status == http.StatusOK, "the release resolves on the new schema with %s", a)
	scored := 0
	ok, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		scored, err = u.old.Count(ctx, "SELECT count(*) FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1", market)
		return scored == calls && calls > 0, err
	})
	u.seen.Check(ok, "of %d calls the release scored %d on the new schema", calls, scored)
	if err != nil || u.env.Stack.Teeth() != "" {
		return err
	}
	// What it scored there it did not put into what it does not know.
	settings, err := stack.Environment(u.old.Stack.PID("api"))
	if err != nil {
		return err
	}
	for _, command := range []string{"fill", "verify"} {
		cmd := exec.CommandContext(ctx, filepath.Join(u.env.Stack.Bin(), "api"), "boards", command)
		cmd.Env = []string{"ENV=test", "DATABASE_URL=" + settings["DATABASE_URL"]}
		out, err := cmd.CombinedOutput()
		u.seen.Check(err == nil, "api boards %s, after the release has scored on the new schema: %v: %.600s", command, err, out)
	}
	return nil
}
