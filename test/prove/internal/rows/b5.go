package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// b5 does what docs/operations.md says: a dump, the database gone, and everything back
// from the dump, with the services down meanwhile.
var b5 = frame.Row{
	ID: "B5", Title: "a backup restores",
	Fault: frame.Fault{What: "a dump without the events"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		w, err := journalledRecord(ctx, env, "b5", env.Of(6, 20, 60), env.Of(8, 20, 60))
		if err != nil {
			return nil, err
		}
		names := []string{"api", "clock", "hub"}
		for i := 2; i <= len(env.Stack.AllHubs()); i++ {
			names = append(names, fmt.Sprintf("hub-%d", i))
		}
		up, err := env.Stack.Down(names...)
		if err != nil {
			return nil, err
		}
		before, after, took, err := w.dropAndRestore(ctx)
		if err = errors.Join(err, up(ctx)); err != nil {
			return nil, err
		}
		for table, rows := range before.counts {
			seen.Check(after.counts[table] == rows, "%s: %d rows, before the drop %d", table, after.counts[table], rows)
		}
		seen.Check(len(after.counts) == len(before.counts), "%d tables, before the drop %d", len(after.counts), len(before.counts))
		for table, sum := range before.sums {
			seen.Check(after.sums[table] == sum, "%s: other rows than before the drop", table)
		}
		for i := range min(len(before.found), len(after.found)) {
			if before.found[i] != after.found[i] {
				seen.Wrong("fsck says %q, before the drop %q", after.found[i], before.found[i])
				break
			}
		}
		seen.Check(len(before.found) == len(after.found), "fsck finds %d differences, before the drop %d", len(after.found), len(before.found))
		market, err := markets(ctx, env, "B5", 1)
		if err != nil {
			return nil, err
		}
		p, err := signUp(ctx, env, "b5-caller", 1)
		if err != nil {
			return nil, err
		}
		a := env.Client.File(ctx, env.Hub(1), p.keys[0].Key, client.Call{Market: market[0], Yes: true, Price: 5000})
		seen.Check(a.Status == 200, "a call after the restore was answered %s", a)
		rows := 0
		for _, n := range after.counts {
			rows += n
		}
		seen.Figure("restoreSeconds", took.Seconds())
		seen.Volume("%s rows of %d tables, restored in %v", frame.Number(rows), len(after.counts), took.Round(time.Millisecond))
		seen.Promise("rows equal, fsck as before", map[bool]string{true: "rows equal, fsck as before", false: "not so"}[seen.OK()])
		return seen, nil
	},
}

// inventory is what a database holds.
type inventory struct {
	counts map[string]int
	sums   map[string]string
	found  []string // by fsck
}

func (w *journalled) inventory(ctx context.Context) (inventory, error) {
	inv := inventory{counts: map[string]int{}}
	rows, err := w.env.DB.Query(ctx, "SELECT schemaname || '.' || quote_ident(tablename) FROM pg_tables WHERE schemaname IN ('api', 'hub', 'clock')")
	if err != nil {
		return inv, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return inv, err
	}
	for _, name := range names {
		if inv.counts[name], err = w.env.Count(ctx, "SELECT count(*) FROM "+name); err != nil {
			return inv, err
		}
	}
	if inv.sums, err = digests(ctx, w.env, "users", "signals", "signal_results", "signal_events", "market_resolutions", "journal_leaves", "operator_scores"); err != nil {
		return inv, err
	}
	inv.found, _, err = w.fsck(ctx)
	slices.Sort(inv.found)
	return inv, err
}

func (w *journalled) dropAndRestore(ctx context.Context) (before, after inventory, took time.Duration, err error) {
	address, err := url.Parse(w.env.Stack.DatabaseURL)
	if err != nil {
		return before, after, 0, err
	}
	beside := *address
	beside.Path = "/postgres"
	name := strings.TrimPrefix(address.Path, "/")
	server, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.env.Stack.PID("postgres")))
	if err != nil {
		return before, after, 0, err
	}
	run := func(program string, args ...string) error {
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(server), program), args...)
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", program, err, said.Bytes())
		}
		return nil
	}
	if before, err = w.inventory(ctx); err != nil {
		return before, after, 0, err
	}
	file := filepath.Join(w.env.Stack.Dir(), "b5.dump")
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	dump := []string{"--format=custom", "--file=" + file, "--dbname=" + address.String()}
	if w.env.Stack.Teeth() == "B5" {
		dump = append(dump, "--exclude-table-data=api.signal_events")
	}
	if err := run("pg_dump", dump...); err != nil {
		return before, after, 0, err
	}
	conn, err := pgx.Connect(ctx, beside.String())
	if err != nil {
		return before, after, 0, err
	}
	_, err = conn.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return before, after, 0, err
	}
	w.env.DB.Reset() // its connections led to what is gone
	began := time.Now()
	if err := run("pg_restore", "--create", "--exit-on-error", "--dbname="+beside.String(), file); err != nil {
		return before, after, 0, err
	}
	took = time.Since(began)
	after, err = w.inventory(ctx)
	return before, after, took, err
}
