package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const (
	databaseName = "signalcast"
	readyWithin  = 90 * time.Second        // from the start of the programs until all are ready
	stopWithin   = 9500 * time.Millisecond // for all processes together
)

// upCmd is the command up. It starts a stack and runs until it is stopped.
type upCmd struct {
	Dir     string   `default:".local" help:"State directory. Every stack needs a separate one."`
	Fresh   bool     `help:"Delete the content of the state directory first."`
	Ports   string   `default:"default" enum:"default,auto" help:"default: hub 8080, api 8081, clock 8082; auto: free ports."`
	Hubs    int      `default:"1" help:"Number of hubs."`
	Bin     string   `help:"Use the programs of this directory instead of compiling them." type:"existingdir"`
	Preload []string `help:"Libraries for Postgres to preload, for example pg_stat_statements."`

	Set map[string]string `help:"Setting of Postgres, name=value; may be repeated." mapsep:"none"`

	// prepare runs after the migrations and before the services start; may be nil.
	prepare func(ctx context.Context, l *launch, in inputs, bin, admin string) error
}

// launch is the state of one run of the command up.
type launch struct {
	cmd      *upCmd
	state    *state
	secrets  secrets
	postgres *localdb.Postgres
	redis    *localdb.Redis
	running  []*process
	info     published
	watcher  supervisor
}

// Run starts the stack, prints "ready", and stops the stack when ctx ends.
func (c *upCmd) Run(ctx context.Context) error {
	ctx, cancel := orphaned(ctx)
	defer cancel()
	if c.Hubs < 1 {
		return errors.New("--hubs must be at least 1")
	}
	s, err := openState(ctx, c.Dir, c.Fresh)
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped while the last stack was stopping
		}
		return err
	}
	defer s.close()
	l := &launch{cmd: c, state: s, watcher: supervisor{say: say}}
	watching, stopWatching := context.WithCancel(ctx)
	defer func() {
		s.markStopping()
		stopWatching()
		l.watcher.wg.Wait()
		l.stop()
	}()
	if err := l.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // stopped during the start
		}
		return err
	}
	l.watch(watching)
	l.printReady()
	<-ctx.Done()
	say("stopping")
	return nil
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// start compiles the programs and starts Postgres and Redis in parallel. Then it runs the migrations and starts the programs.
func (l *launch) start(ctx context.Context) error {
	var err error
	if l.secrets, err = l.state.secrets(); err != nil {
		return err
	}
	fixed := fixedPorts
	if l.cmd.Ports == "auto" {
		fixed = nil
	}
	// Before the compilation, because a port in use is the most frequent error.
	if err := checkPorts(fixed); err != nil {
		return err
	}
	bin := l.cmd.Bin
	group, groupCtx := errgroup.WithContext(ctx)
	if bin == "" {
		bin = l.state.path("bin")
		say("compiling the programs")
		group.Go(func() error { return build(groupCtx, bin) })
	}
	// Not groupCtx: if the compilation fails, a starting database must be stopped in order.
	group.Go(func() (err error) { l.postgres, err = l.startPostgres(ctx); return err })
	group.Go(func() (err error) {
		l.redis, err = localdb.StartRedis(ctx, localdb.RedisConfig{URL: os.Getenv("REDIS_URL"), InProcess: true, Log: note})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	admin := l.postgres.URL()
	if !l.postgres.External() {
		if admin, err = localdb.EnsureDatabase(ctx, admin, databaseName); err != nil {
			return err
		}
	}
	if err := migrateAll(ctx, bin, admin, l.secrets.Database, note); err != nil {
		return err
	}
	// After the compilation, because another program may use a free port meanwhile.
	ports, err := choosePorts(l.state, portNames(l.cmd.Hubs), fixed)
	if err != nil {
		return err
	}
	in := inputs{
		state: l.state, secrets: l.secrets, ports: ports, hubs: l.cmd.Hubs, nonce: randomHex(8), redis: l.redis.URL(),
		database: func(role string) (string, error) { return localdb.WithUser(admin, role, l.secrets.Database) },
	}
	if l.cmd.prepare != nil {
		if err := l.cmd.prepare(ctx, l, in, bin, admin); err != nil {
			return err
		}
	}
	return l.run(ctx, in, bin, admin)
}

func note(line string) { say("%s", line) }

func (l *launch) startPostgres(ctx context.Context) (*localdb.Postgres, error) {
	return localdb.StartPostgres(ctx, localdb.PostgresConfig{
		URL: os.Getenv("DATABASE_URL"), Dir: l.state.path("pg"), Durable: true,
		Preload: l.cmd.Preload, Settings: l.cmd.Set, Log: note,
	})
}

// run starts every program, waits until every program is ready, and writes stack.json.
func (l *launch) run(ctx context.Context, in inputs, bin, admin string) error {
	programs, err := makePlan(in)
	if err != nil {
		return err
	}
	ready, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	group, ready := errgroup.WithContext(ready)
	for _, prog := range programs {
		proc := &process{Process: localdb.NewProcess(l.state.path("logs", prog.name+".log")), program: prog, bin: bin}
		if err := proc.Restart(ctx); err != nil {
			return err
		}
		l.running = append(l.running, proc)
		group.Go(func() error { return proc.ready(ready) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	l.info.path = l.state.path(stackFile)
	l.info.units = map[string]unit{"postgres": l.postgres, "redis": l.redis}
	for _, proc := range l.running {
		l.info.units[proc.name] = proc
	}
	l.info.stack = stack{
		Hub: in.url("hub"), Hubs: []string{}, API: in.url("api"), Clock: in.url("clock"), Venues: in.url("venues"), IDP: in.url("idp"), Origin: in.url("origin"),
		DatabaseURL: admin, RedisURL: l.redis.URL(),
		AdminSecret: l.secrets.Admin, CronSecret: l.secrets.Cron, Nonce: in.nonce,
	}
	for i := 2; i <= l.cmd.Hubs; i++ {
		l.info.stack.Hubs = append(l.info.stack.Hubs, in.url(hubName(i)))
	}
	return l.info.write()
}

// watch lets the supervisor restart each database and program that ends. After each restart, the supervisor replaces
// stack.json.
func (l *launch) watch(ctx context.Context) {
	l.watcher.changed = func() {
		if err := l.info.write(); err != nil {
			say("could not write %s: %v", l.info.path, err)
		}
	}
	for name, u := range l.info.units {
		l.watcher.watch(ctx, name, u)
	}
}

// printReady prints "ready" and the addresses of the stack to the standard output.
func (l *launch) printReady() {
	s := l.info.stack
	fmt.Printf("ready\n\n  hub     %s        developer page: %s/dev\n  api     %s\n  clock   %s\n  venues  %s\n  sign-in %s/login\n  video   %s\n\n  addresses for tools: %s; logs: %s. Ctrl-C stops everything.\n",
		s.Hub, s.Hub, s.API, s.Clock, s.Venues, s.IDP, s.Origin, l.info.path, l.state.path("logs"))
}

// tiers lists groups of programs in the order in which they stop: callers before the programs that they call. Hubs have the
// longest grace period, because they drain connections. The grace periods leave two seconds of stopWithin for Postgres.
var tiers = []struct {
	binaries []string
	grace    time.Duration
}{
	{[]string{"hub"}, 4 * time.Second},
	{[]string{"clock"}, 1500 * time.Millisecond},
	{[]string{"api"}, 1500 * time.Millisecond},
	{[]string{"venuesim", "devidp"}, 500 * time.Millisecond},
}

// stop deletes stack.json and ends all processes within stopWithin: first the programs in the order of tiers, then the databases.
func (l *launch) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	l.info.remove()
	for _, tier := range tiers {
		var group errgroup.Group
		for _, p := range l.running {
			if slices.Contains(tier.binaries, p.binary) {
				group.Go(func() error { p.Terminate(ctx, syscall.SIGTERM, tier.grace); return nil })
			}
		}
		_ = group.Wait()
	}
	if l.redis != nil {
		l.redis.Stop(ctx)
	}
	if l.postgres != nil {
		l.postgres.Stop(ctx)
	}
}
