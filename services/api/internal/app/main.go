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

const usage = `       api recount      compare every counter with a count of the stored rows
       api fsck [FILE]  compare the stored rows with the journal, the journal with its checkpoints,
                        and each call with its quotes and times; each FILE contains a checkpoint
                        that was stored elsewhere
       api boards verify
                        compute boards and records from calls and results, and compare
       api boards fill  recompute stored records; run it after the last process of the previous
                        release has stopped
       api seed         store a history from standard input, one JSON step per line; for
                        development and tests, before the service starts
`

// Program returns the definition of the program api: its server, its database schema and its commands.
func Program() service.Program {
	return service.Program{
		Name: serviceName, Usage: usage, Serve: service.Serve(build), HTTPAddr: "127.0.0.1:8081",
		Schema: func(password string) pg.Schema {
			return pg.Schema{Name: serviceName, Files: postgres.Migrations(), Password: password}
		},
		Commands: map[string]service.Command{
			"recount": service.NoArgs(func(ctx context.Context, stdout io.Writer) error {
				return compare(ctx, stdout, postgres.Recount, "every counter equals the count of its rows")
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
		return compare(ctx, stdout, postgres.Verify, "every board and record equals the result computed from calls and results")
	case "fill":
		return fill(ctx, stdout)
	}
	return service.ErrUsage
}

// errDifferences is returned by compare if a stored value differs from the computed value.
var errDifferences = errors.New("stored figures differ from computed ones")

// compare calls the function find and prints one line for each difference that it returns. It then returns errDifferences. If
// there is no difference, it prints the text in success.
func compare(ctx context.Context, stdout io.Writer, find func(context.Context, *pgxpool.Pool) ([]postgres.Difference, error), success string) error {
	pool, err := commandPool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	list, err := find(ctx, pool)
	if err != nil {
		return err
	}
	for _, d := range list {
		if _, err := fmt.Fprintf(stdout, "%s %s: stored %s, computed %s\n", d.Counter, d.Of, d.Stored, d.Computed); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		return errDifferences
	}
	_, err = fmt.Fprintln(stdout, success)
	return err
}

// commandStatement is the time limit of one SQL statement of a command. A statement can read the whole ledger, which takes
// minutes for ten million calls.
const commandStatement = 6 * time.Hour

func commandPool(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := config.Load[recountConfig]()
	if err != nil {
		return nil, err
	}
	return pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2, StatementTimeout: commandStatement})
}

func fill(ctx context.Context, stdout io.Writer) error {
	pool, err := commandPool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := postgres.FillRecords(ctx, pool); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, "records recomputed")
	return err
}

// recountConfig is the configuration of the commands recount and boards.
type recountConfig struct {
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
}

// Check implements config.Checker.
func (c *recountConfig) Check(r *config.Report) {
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
}
