package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// Numbers of operators, markets and lock samples for the comparison of two source trees. An operator files at most one call
// on a market, so there must be enough pairs of operator and market for all measured calls.
const (
	againstPeople  = 3_000
	againstMarkets = 100 // native markets, and the same number of venue markets
	lockSamples    = 5
)

// compareTrees compares this source tree with the git revision that the flag -against names. It compares the cost of a filed
// call. If the flag -only selects sections, it also compares their ratios. Each tree starts its own system. The older tree
// needs a compatible public API and the command `deploy/local up`.
func (b *bench) compareTrees() {
	tree, bin := b.checkOut()
	b.compareFiling(bin)
	if len(b.only) > 0 {
		b.compareRatios(tree)
	}
}

// checkOut checks out the git revision that the flag -against names, and builds its programs. It returns the directory of the
// source tree and the directory of the programs.
func (b *bench) checkOut() (tree, bin string) {
	fmt.Println("building the programs of", b.against)
	tree, bin = filepath.Join(b.dir, "tree"), filepath.Join(b.dir, "old-bin")
	output(exec.CommandContext(b.ctx, "git", "worktree", "add", "--quiet", "--detach", tree, b.against))
	b.Cleanup(func() {
		if err := exec.Command("git", "worktree", "remove", "--force", tree).Run(); err != nil {
			b.Errorf("remove the work tree %s: %v", tree, err)
		}
	})
	b.build(tree, bin, stack.Programs...)
	return tree, bin
}

// build compiles Go programs of the source tree into the directory bin. The flag -trimpath lets go build use the build cache for
// a source tree in any directory.
func (b *bench) build(tree, bin string, programs ...string) {
	cmd := exec.CommandContext(b.ctx, "go", append([]string{"build", "-trimpath", "-o", bin + "/"}, programs...)...)
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "GOWORK=", "PWD="+tree)
	output(cmd)
}

// tree is one of the two compared versions of the source code, with its running system and its measurements.
type tree struct {
	*system
	name  string
	kinds map[string]*filer // by kind of market
	costs map[string][]cost // costs of the rounds, by kind of market and number of clients
	locks map[string][]float64
}

// cost contains the resources that one filed call uses, as the average of a measurement. Postgres, Hub, API and Redis are CPU
// times in microseconds.
type cost struct {
	Statements, WALBytes, RowLocks, Postgres, Hub, API, Redis float64
}

// compareFiling files calls alternately at the systems of the two source trees, on native markets and on venue markets. It
// reports the costs. bin contains the programs of the older tree.
func (b *bench) compareFiling(bin string) {
	trees := []*tree{b.newTree("before", stack.ProgramsIn(bin)), b.newTree("now")}
	kinds := slices.Sorted(maps.Keys(trees[0].kinds))
	for _, kind := range kinds {
		for _, clients := range b.clients {
			job := fmt.Sprintf("filing on %s markets, %d clients, ", kind, clients)
			for round := range b.rounds {
				for i := range trees {
					t := trees[(i+round)%2] // the trees take the first place alternately
					c := b.fileAt(t, t.kinds[kind], clients)
					fmt.Printf("%s%s: %+v\n", job, t.name, c)
					t.costs[job] = append(t.costs[job], c)
				}
			}
			for _, f := range []struct {
				name, unit string
				tolerance  float64
				of         func(cost) float64
			}{
				{"statements", "a call", 0.03, func(c cost) float64 { return c.Statements }},
				{"WAL", "bytes a call", 0.03, func(c cost) float64 { return c.WALBytes }},
				{"row locks", "a call", 0.03, func(c cost) float64 { return c.RowLocks }},
				{"Postgres CPU", "us a call", 0.03, func(c cost) float64 { return c.Postgres }},
				{"hub CPU", "us a call", 0.05, func(c cost) float64 { return c.Hub }},
				{"api CPU", "us a call", 0.05, func(c cost) float64 { return c.API }},
				{"Redis CPU", "us a call", 0.05, func(c cost) float64 { return c.Redis }},
			} {
				before, now := each(trees[0].costs[job], f.of), each(trees[1].costs[job], f.of)
				b.report.against(job+f.name, f.unit, lower, f.tolerance, now, before)
			}
		}
		for _, t := range trees {
			for range lockSamples {
				t.locks[kind] = append(t.locks[kind], t.countLocks(t.kinds[kind]))
			}
		}
		b.report.against("filing on "+kind+" markets, locks at the commit of one call", "locks", lower, 0,
			trees[1].locks[kind], trees[0].locks[kind])
	}
}

// newTree starts the system of a source tree, creates operators and markets through the public API, and sends load to warm the
// system up. name is the name of the tree in the output.
func (b *bench) newTree(name string, opts ...stack.Option) *tree {
	// A quote remains valid for the whole run, so that both trees read the venue equally often.
	opts = append(opts, stack.Env("QUOTE_MAX_AGE", "15m"), stack.Env("QUOTE_CONFIRM_AFTER", "off"))
	s := b.start([]string{"pg_stat_statements.track=top"}, opts...)
	s.exec("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	s.exec("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
	fmt.Printf("%s: %d people, %d markets\n", name, againstPeople, 2*againstMarkets)
	native, venue := make([]string, againstMarkets), make([]string, againstMarkets)
	for i := range native {
		native[i] = s.NewNativeMarket(b, 5000, nil)
		m := s.NewVenueMarket(b, "kalshi", 0.5, nil)
		m.Read(b)
		venue[i] = m.ID
	}
	s.tokens = make([]string, againstPeople)
	var failed sync.Map
	stack.Each(againstPeople, 8, func(i int) {
		if err := recoverError(func() { s.tokens[i] = s.newKey(fmt.Sprint("bench_", i)) }); err != nil {
			failed.Store(i, err)
		}
	})
	failed.Range(func(_, err any) bool { check(err.(error)); return true })
	on := func(markets []string) *filer {
		return &filer{tokens: s.tokens, markets: againstMarkets, market: func(i int64) string { return markets[i] }}
	}
	t := &tree{s, name, map[string]*filer{"native": on(native), "venue": on(venue)}, map[string][]cost{}, map[string][]float64{}}
	for _, f := range t.kinds {
		b.warm(s.Hub, f)
	}
	s.exec("VACUUM ANALYZE")
	return t
}

// newKey signs a user in through the test identity provider and returns a new operator key of this user.
func (s *system) newKey(person string) string {
	login := stack.Post(s.b, s.IDP+"/mint", stack.Body(stack.JSON{"user": person})).Require(http.StatusOK).Text("token")
	return stack.Send(s.b, http.MethodPost, s.Hub+"/api/dev/keys", stack.Bearer(login), stack.Body(stack.JSON{"label": "bench"})).
		Require(http.StatusCreated).Text("key")
}

// fileAt files calls from a number of clients for one measurement and returns the cost of one call. It waits until the events of
// the calls are in the feed, because publishing them is part of the cost.
func (b *bench) fileAt(t *tree, f *filer, clients int) cost {
	b.awaitQuiet(t.system)
	t.exec("SELECT pg_stat_statements_reset()")
	before, wal := t.parts(), t.walPosition()
	done := b.load(t.Hub, clients, b.length, f.one)
	t.awaitPublished()
	after, end := t.parts(), t.walPosition()
	statements := stack.Query[float64](b, t.Stack, `SELECT sum(calls)::float8 FROM pg_stat_statements s
		JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname IN ('api_rw', 'hub_rw')`)
	// Full page images are excluded, because their number depends on the time since the last checkpoint.
	const records = "SELECT coalesce(sum(%s), 0)::float8 FROM pg_get_wal_stats('0/0'::pg_lsn + $1, '0/0'::pg_lsn + $2, true)"
	bytes := stack.Query[float64](b, t.Stack, fmt.Sprintf(records, "record_size"), wal, end)
	locks := stack.Query[float64](b, t.Stack, fmt.Sprintf(records, "count")+
		` WHERE "resource_manager/record_type" IN ('Heap/LOCK', 'Heap2/LOCK_UPDATED')`, wal, end)
	n := float64(done.n)
	us := func(i int) float64 { return micros(after[i]-before[i], n) }
	return cost{statements / n, bytes / n, locks / n, us(0), us(1), us(2), us(3)}
}

// countLocks files one call and returns the number of database locks that its transaction holds when it commits. The setting
// synchronous_standby_names names a standby that does not exist, so the commit waits before it releases its locks.
func (t *tree) countLocks(f *filer) float64 {
	t.awaitPublished()
	t.exec("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
	t.exec("SELECT pg_reload_conf()")
	stack.Wait(t.b, 300*time.Millisecond) // the checkpointer applies the setting for all processes
	done := make(chan error, 1)
	c := dial(t.Hub)
	defer func() { _ = c.Close() }()
	go func() { done <- f.one(c) }()
	const atCommit = `SELECT count(*)::float8 FROM pg_locks WHERE pid IN (
		SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE a.wait_event = 'SyncRep' AND l.relation = 'api.signals'::regclass AND l.mode = 'RowExclusiveLock')`
	locks := 0.0
	for end := time.Now().Add(time.Second); locks == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		locks = stack.Query[float64](t.b, t.Stack, atCommit)
	}
	t.exec("ALTER SYSTEM RESET synchronous_standby_names")
	t.exec("SELECT pg_reload_conf()")
	check(<-done)
	if locks == 0 {
		check(errors.New("no transaction of a call waits at its commit"))
	}
	return locks
}

// compareRatios runs the sections that the flag -only selects, alternately with the bench program of each source tree. It
// compares the ratios. old is the directory of the older tree.
func (b *bench) compareRatios(old string) {
	type side struct {
		dir, program string
		ratios       map[string][]float64 // ratios by job
	}
	sides := []*side{{dir: old}, {dir: must(stack.Root())}}
	for i, s := range sides {
		bin := filepath.Join(b.dir, fmt.Sprint("bench-", i))
		b.build(s.dir, bin, "./test/bench")
		s.program, s.ratios = filepath.Join(bin, "bench"), map[string][]float64{}
	}
	var jobs []result
	anchors, out := must(filepath.Abs(b.anchors)), filepath.Join(b.dir, "round.json")
	for round := range b.rounds {
		for i := range sides {
			s := sides[(i+round)%2]
			cmd := exec.CommandContext(b.ctx, s.program, "-only", strings.Join(b.only, ","), "-rounds", "1", "-for", b.length.String(),
				"-quiet", b.quiet.String(), "-dir", b.dir, "-anchors", anchors, "-out", out)
			cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "PWD="+s.dir)
			fmt.Printf("%s\n", output(cmd))
			var found report
			check(json.Unmarshal(must(os.ReadFile(out)), &found))
			for _, r := range found.Results {
				s.ratios[r.Job] = append(s.ratios[r.Job], r.Ratio)
			}
			jobs = found.Results
		}
	}
	for _, r := range jobs {
		way := lower
		if strings.HasSuffix(r.Unit, "per s") || strings.HasSuffix(r.Unit, "/s") {
			way = higher
		}
		if before, now := sides[0].ratios[r.Job], sides[1].ratios[r.Job]; len(before) == b.rounds && len(now) == b.rounds {
			b.report.against(r.Job, "ratio", way, 0.05, now, before)
		}
	}
}
