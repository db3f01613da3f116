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

// errRecord says that the record is not what was sealed, or that a call is not what follows
// from its facts.
var errRecord = errors.New("the record differs from its journal or from its facts")

// fsck prints a line for each row, leaf and root that is not as it was sealed, and for each
// number of a call that does not follow from its quotes and times, and fails if there is one.
// The files hold signed roots that were stored elsewhere.
func fsck(ctx context.Context, files []string, stdout io.Writer) error {
	cfg, err := config.Load[fsckConfig]()
	if err != nil {
		return err
	}
	key, err := journal.NewKey(cfg.Key.Reveal())
	if err != nil {
		return err
	}
	var kept []journal.Checkpoint
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		k, err := key.Open(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kept = append(kept, k)
	}
	pool, err := pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2, StatementTimeout: commandStatement})
	if err != nil {
		return err
	}
	defer pool.Close()
	found, err := postgres.Fsck(ctx, pool, key, kept)
	if err != nil {
		return err
	}
	calls, err := postgres.FsckCalls(ctx, pool, cfg.Confirm != "off")
	if err != nil {
		return err
	}
	for _, d := range calls {
		found.Differences = append(found.Differences, fmt.Sprintf("signal %s: %s is %s, computed %s", d.Of, d.Counter, d.Kept, d.Counted))
	}
	return tellFindings(stdout, found, key)
}

func tellFindings(out io.Writer, found *journal.Findings, key journal.Key) error {
	for _, d := range found.Differences {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	if n := len(found.Differences) + found.More; n > 0 {
		return fmt.Errorf("%w: %d differences", errRecord, n)
	}
	if found.Filling {
		if _, err := fmt.Fprintln(out, "rows from before the journal are still being sealed"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d rows are as they were sealed, %d signed roots hold\nkey %s\n%s", found.Leaves, found.Checkpoints, key.Public(), found.Newest)
	return err
}

type fsckConfig struct {
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
	Key      config.Secret `env:"CHECKPOINT_KEY"`
	Confirm  string        `env:"QUOTE_CONFIRM_AFTER" envDefault:"5s"` // or off
}

// Check implements config.Checker.
func (c *fsckConfig) Check(r *config.Report) {
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.Secret("CHECKPOINT_KEY", c.Key)
}
