package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

const usage = `       api recount      compare every counter with a count of the record
       api fsck [FILE]  compare the record with its journal, that with its signed roots, and each
                        call with its quotes and times; each FILE has a root from elsewhere
       api boards verify
                        work out what boards and records show from signals and results, and compare
       api boards fill  write anew what records show, once no process of the release before runs
                        any more
       api seed         store a history that standard input gives, one step a line: for
                        development and tests, before the service runs
`

// Program returns the api and its commands.
func Program() service.Program {
	return service.Program{
		Name: serviceName, Usage: usage, Serve: service.Serve(build), HTTPAddr: "127.0.0.1:8081",
		Schema: func(password string) pg.Schema {
			return pg.Schema{Name: serviceName, Files: postgres.Migrations(), Password: password}
		},
		Commands: map[string]service.Command{
			"recount": service.NoArgs(func(ctx context.Context, stdout io.Writer) error {
				return compare(ctx, stdout, postgres.Recount, "every counter equals the record")
			}),
			"fsck":   fsck,
			"boards": boards,
			"seed":   service.NoArgs(func(ctx context.Context, stdout io.Writer) error { return seed(ctx, os.Stdin, stdout) }),
		},
	}
}

func build(ctx context.Context, cfg Config, log io.Writer, clock *dbtime.Clock) (*App, error) {
	a, err := New(ctx, cfg, log, clock.Now)
	if err != nil {
		return nil, err
	}
	a.time = clock
	return a, nil
}

func boards(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return service.ErrUsage
	}
	switch args[0] {
	case "verify":
		return compare(ctx, stdout, postgres.Verify, "every board and record equals the signals and results")
	case "fill":
		return fill(ctx, stdout)
	}
	return service.ErrUsage
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
	cfg, err := config.Load[recountConfig]()
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
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
}

// Check implements config.Checker.
func (c *recountConfig) Check(r *config.Report) {
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
}
