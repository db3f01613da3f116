package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/chrono"
	"github.com/signalcast/signalcast/pkg/conf"
	"github.com/signalcast/signalcast/pkg/obs"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

const usage = `usage: api [serve]      run the service
       api migrate      bring schema api up to date
       api health       tell by the exit code whether the one on HTTP_ADDR is ready
       api recount      compare every counter with a count of the record
       api fsck [FILE]  compare the record with its journal, that with its signed roots, and each
                        call with its quotes and times; each FILE has a root from elsewhere
       api boards verify
                        work out what boards and records show from signals and results, and compare
       api boards fill  write anew what records show, once no process of the release before runs
                        any more
       api seed         store a history that standard input gives, one step a line: for
                        development and tests, before the service runs
`

// errUsage is a command line that cannot be read.
var errUsage = errors.New("unknown command")

// Main runs one command and gives the exit code: 0 done, 1 failed, 2 the
// command line or the environment is wrong.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := "serve"
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	var err error
	switch {
	case command == "serve" && len(args) == 0:
		err = serve(ctx, stderr)
	case command == "migrate" && len(args) == 0:
		err = migrate(ctx, stdout)
	case command == "health" && len(args) == 0:
		err = health(ctx)
	case command == "recount" && len(args) == 0:
		err = compare(ctx, stdout, postgres.Recount, "every counter equals the record")
	case command == "fsck":
		err = fsck(ctx, args, stdout)
	case command == "boards" && len(args) == 1 && args[0] == "verify":
		err = compare(ctx, stdout, postgres.Verify, "every board and record equals the signals and results")
	case command == "boards" && len(args) == 1 && args[0] == "fill":
		err = fill(ctx, stdout)
	case command == "seed" && len(args) == 0:
		err = seed(ctx, os.Stdin, stdout)
	default:
		err = errUsage
	}
	var mistakes conf.Mistakes
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(stderr, "%v\n%s", err, usage)
		return 2
	case errors.As(err, &mistakes):
		_, _ = fmt.Fprintln(stderr, mistakes)
		return 2
	}
	_, _ = fmt.Fprintln(stderr, err)
	return 1
}

func serve(ctx context.Context, stderr io.Writer) error {
	cfg, err := conf.Load[Config]()
	if err != nil {
		return err
	}
	log := obs.NewBuffered(stderr)
	defer func() { _ = log.Close() }()
	clock := chrono.System()
	a, err := New(ctx, cfg, log, clock.Now)
	if err != nil {
		return err
	}
	a.time = clock
	return a.Run(ctx)
}

func migrate(ctx context.Context, stdout io.Writer) error {
	cfg, err := conf.Load[migrateConfig]()
	if err != nil {
		return err
	}
	done, err := pg.Migrate(ctx, cfg.Admin.Reveal(), pg.Schema{Name: "api", Files: postgres.Migrations(), Password: cfg.Password.Reveal()})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "schema api: version %d, was %d\n", done.To, done.From)
	return err
}

// errCounters tells that a counter differs from the record.
var errCounters = errors.New("counters differ from the record")

// compare prints one line for each difference and fails when there is any.
func compare(ctx context.Context, stdout io.Writer, differ func(context.Context, *pgxpool.Pool) ([]postgres.Difference, error), right string) error {
	pool, err := ownPool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	list, err := differ(ctx, pool)
	if err != nil {
		return err
	}
	for _, d := range list {
		if _, err := fmt.Fprintf(stdout, "%s %s: kept %s, counted %s\n", d.Counter, d.Of, d.Kept, d.Counted); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		return errCounters
	}
	_, err = fmt.Fprintln(stdout, right)
	return err
}

// commandStatement is how long a statement of a command may take that reads the whole
// ledger: of ten million calls it is minutes, and nobody waits for it.
const commandStatement = 6 * time.Hour

func ownPool(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := conf.Load[recountConfig]()
	if err != nil {
		return nil, err
	}
	return pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2, StatementTimeout: commandStatement})
}

func fill(ctx context.Context, stdout io.Writer) error {
	pool, err := ownPool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := postgres.FillRecords(ctx, pool); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, "every record is filled")
	return err
}

type recountConfig struct {
	Env      conf.Env    `env:"ENV"`
	Database conf.Secret `env:"DATABASE_URL"`
}

// Check implements conf.Checker.
func (c *recountConfig) Check(r *conf.Report) {
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
}

// healthConfig is what the command `health` needs.
type healthConfig struct {
	Env  conf.Env `env:"ENV"`
	HTTP string   `env:"HTTP_ADDR" envDefault:"127.0.0.1:8081"`
}

// Check implements conf.Checker.
func (c *healthConfig) Check(r *conf.Report) { r.Addr("HTTP_ADDR", c.HTTP) }

func health(ctx context.Context) error {
	cfg, err := conf.Load[healthConfig]()
	if err != nil {
		return err
	}
	return web.Probe(ctx, cfg.HTTP)
}

// version of the build, as the toolchain knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
