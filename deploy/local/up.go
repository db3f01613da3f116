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
	readyWithin  = 90 * time.Second
	stopWithin   = 9500 * time.Millisecond
)

// upCmd starts everything and stays.
type upCmd struct {
	Dir     string   `default:".local" help:"State directory; one stack has one."`
	Fresh   bool     `help:"Empty the state directory first."`
	Ports   string   `default:"default" enum:"default,auto" help:"default: hub 8080, api 8081, clock 8082; auto: any free ones."`
	Hubs    int      `default:"1" help:"How many hubs to run."`
	Bin     string   `help:"Take the programs from this directory instead of building them." type:"existingdir"`
	Preload []string `help:"Libraries for Postgres to preload, for example pg_stat_statements."`

	Set map[string]string `help:"A setting of Postgres, name=value; may be repeated." mapsep:"none"`

	// prepare runs after the migrations and before the services; nil: nothing to do.
	prepare func(ctx context.Context, l *launch, in inputs, bin, admin string) error
}

// launch is one run of up.
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

// Run starts the stack, prints "ready", and stops it when ctx ends.
func (c *upCmd) Run(ctx context.Context) error {
	ctx, cancel := orphaned(ctx)
	defer cancel()
	if c.Hubs < 1 {
		return errors.New("at least one hub is needed")
	}
	s, err := openState(c.Dir, c.Fresh)
	if err != nil {
		return err
	}
	defer s.close()
	l := &launch{cmd: c, state: s, watcher: supervisor{say: say}}
	watching, stopWatching := context.WithCancel(ctx)
	defer func() {
		stopWatching()
		l.watcher.wg.Wait()
		l.stop()
	}()
	if err := l.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before everything ran
		}
		return err
	}
	l.watch(watching)
	l.greet()
	<-ctx.Done()
	say("stopping")
	return nil
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// start builds, starts the databases meanwhile, migrates, and runs the programs.
func (l *launch) start(ctx context.Context) error {
	var err error
	if l.secrets, err = l.state.secrets(); err != nil {
		return err
	}
	// Before anything is started: a taken port is the most likely mistake.
	fixed := fixedPorts
	if l.cmd.Ports == "auto" {
		fixed = nil
	}
	ports, err := choosePorts(l.state, portNames(l.cmd.Hubs), fixed)
	if err != nil {
		return err
	}
	bin := l.cmd.Bin
	group, groupCtx := errgroup.WithContext(ctx)
	if bin == "" {
		bin = l.state.path("bin")
		group.Go(func() error { return build(groupCtx, bin) })
	}
	// Not the group's context: a database that is starting is stopped in order.
	group.Go(func() (err error) { l.postgres, err = l.startPostgres(ctx); return err })
	group.Go(func() (err error) {
		l.redis, err = localdb.StartRedis(ctx, localdb.RedisConfig{URL: os.Getenv("REDIS_URL"), InProcess: true, Log: note})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	admin := l.postgres.URL()
	if !l.postgres.Kept() {
		if admin, err = localdb.EnsureDatabase(ctx, admin, databaseName); err != nil {
			return err
		}
	}
	if err := migrateAll(ctx, bin, admin, l.secrets.Database, note); err != nil {
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

// run starts every program, waits until all answer and publishes stack.json.
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

// watch starts the supervision of every unit.
func (l *launch) watch(ctx context.Context) {
	l.watcher.changed = func() {
		if err := l.info.write(); err != nil {
			say("write %s: %v", l.info.path, err)
		}
	}
	for name, u := range l.info.units {
		l.watcher.watch(ctx, name, u)
	}
}

func (l *launch) greet() {
	s := l.info.stack
	fmt.Printf("ready\n\n  hub     %s        pages for developers: %s/dev\n  api     %s\n  clock   %s\n  venues  %s\n  sign-in %s/login\n  video   %s\n\n  %s has the addresses for tools, %s has the logs. Ctrl-C stops it all.\n",
		s.Hub, s.Hub, s.API, s.Clock, s.Venues, s.IDP, s.Origin, l.info.path, l.state.path("logs"))
}

// tiers are the programs that stop together. Callers stop before the programs that they call, and the hubs, which drain
// connections, get the most time. The graces together leave two seconds for Postgres.
var tiers = []struct {
	binaries []string
	grace    time.Duration
}{
	{[]string{"hub"}, 4 * time.Second},
	{[]string{"clock"}, 1500 * time.Millisecond},
	{[]string{"api"}, 1500 * time.Millisecond},
	{[]string{"venuesim", "devidp"}, 500 * time.Millisecond},
}

// stop ends everything in the reverse order of starting, within ten seconds.
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
