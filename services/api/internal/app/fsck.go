package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// errFsck is returned by fsck if it has found a difference.
var errFsck = errors.New("the ledger is inconsistent with its journal or its quotes")

// fsck implements the command "api fsck". It compares the stored rows with the journal, the journal with its checkpoints, and
// each call with its quotes and times. files are paths of checkpoints that were stored outside the database. fsck prints one
// line for each difference, and returns errFsck if there is one.
func fsck(ctx context.Context, files []string, stdout io.Writer) error {
	cfg, err := config.Load[fsckConfig]()
	if err != nil {
		return err
	}
	key, err := journal.NewKey(cfg.Key.Reveal())
	if err != nil {
		return err
	}
	var checkpoints []journal.Checkpoint
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		k, err := key.Open(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		checkpoints = append(checkpoints, k)
	}
	pool, err := pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2, StatementTimeout: commandStatement})
	if err != nil {
		return err
	}
	defer pool.Close()
	found, err := postgres.Fsck(ctx, pool, key, checkpoints)
	if err != nil {
		return err
	}
	calls, err := postgres.FsckCalls(ctx, pool, cfg.Confirm != "off")
	if err != nil {
		return err
	}
	for _, d := range calls {
		found.Differences = append(found.Differences, fmt.Sprintf("signal %s: %s is %s, computed %s", d.Of, d.Counter, d.Stored, d.Computed))
	}
	return printFindings(stdout, found, key)
}

func printFindings(out io.Writer, found *journal.Findings, key journal.Key) error {
	for _, d := range found.Differences {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	if n := len(found.Differences) + found.More; n > 0 {
		return fmt.Errorf("%w: %d differences", errFsck, n)
	}
	if found.Filling {
		if _, err := fmt.Fprintln(out, "rows older than the journal are still being added to it"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d rows match the journal, %d checkpoints are valid\nkey %s\n%s", found.Leaves, found.Checkpoints, key.Public(), found.Newest)
	return err
}

// fsckConfig is the configuration of the command "api fsck".
type fsckConfig struct {
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
	Key      config.Secret `env:"CHECKPOINT_KEY"`
	Confirm  string        `env:"QUOTE_CONFIRM_AFTER" envDefault:"5s"` // "off": calls have no second quote to compare
}

// Check implements config.Checker.
func (c *fsckConfig) Check(r *config.Report) {
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.Secret("CHECKPOINT_KEY", c.Key)
}
