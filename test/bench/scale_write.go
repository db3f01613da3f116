package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	scaleWriters = 5_000
	scaleClients = 64
	longRecord   = 10_000
)

// compareWrites files calls on both in turn and compares the CPU of one.
func (b *bench) compareWrites(ctx context.Context, small, large *archive) error {
	filers := map[*archive]*filer{}
	for _, l := range []*archive{small, large} {
		first := l.operators + 1000
		if _, err := l.db.Exec(ctx, "SELECT bench.add_writers($1, $2)", first, scaleWriters); err != nil {
			return err
		}
		if _, err := l.db.Exec(ctx, "SELECT bench.add_markets('kalshi-BENCH-', 'kalshi', $1)", writeMarkets); err != nil {
			return err
		}
		if err := l.addKeys(ctx, first, scaleWriters); err != nil {
			return err
		}
		if err := l.settle(ctx, "api.users", "api.operator_keys", "api.markets", "api.operator_totals"); err != nil {
			return err
		}
		filers[l] = &filer{tokens: l.tokens, prefix: "kalshi-BENCH-"}
		if _, err := load(ctx, l.stack.Hub, scaleClients, time.Hour, until(filers[l], scaleWriters)); err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	var ours, base [2][]float64
	for range b.rounds {
		for _, side := range []struct {
			l  *archive
			to *[2][]float64
		}{{small, &base}, {large, &ours}} {
			if err := side.l.drained(ctx); err != nil {
				return err
			}
			b.calm(ctx)
			before, database := side.l.spent(), treeTime(side.l.stack.pid("postgres"))
			done, err := load(ctx, side.l.stack.Hub, scaleClients, b.length, filers[side.l].one)
			if err != nil {
				return err
			}
			// With what follows a call: its place in the feed.
			if err := side.l.drained(ctx); err != nil {
				return err
			}
			side.to[0] = append(side.to[0], micros(side.l.spent()-before, float64(done.n)))
			side.to[1] = append(side.to[1], micros(treeTime(side.l.stack.pid("postgres"))-database, float64(done.n)))
		}
	}
	job := fmt.Sprintf("one call filed, %d clients, %s / %s, ", scaleClients, brief(large.size), brief(small.size))
	b.report.ratio(job+"cpu of all parts", "us", lower, 1.3, ours[0], base[0])
	b.report.ratio(job+"postgres cpu", "us", lower, 0, ours[1], base[1])
	return nil
}

// compareChange files one call, with the fold of the boards held off, and times what the
// change costs the boards: the fold of it, and the board that is read before that.
func (b *bench) compareChange(ctx context.Context, small, large *archive) error {
	var ours, base [2][]float64
	for range max(b.rounds, 5) {
		for _, side := range []struct {
			l  *archive
			to *[2][]float64
		}{{small, &base}, {large, &ours}} {
			fold, read, err := side.l.change(ctx)
			if err != nil {
				return err
			}
			side.to[0], side.to[1] = append(side.to[0], fold), append(side.to[1], read)
		}
	}
	one := []float64{1}
	b.report.ratio(fmt.Sprintf("boards folded after one change, %s, / 1 ms", brief(large.size)), "ms", lower, 1, ours[0], one)
	b.report.ratio(fmt.Sprintf("boards folded after one change, %s / %s", brief(large.size), brief(small.size)), "ms", lower, 1.6, ours[0], base[0])
	b.report.ratio(fmt.Sprintf("board of 50 read after one change, %s, / 1 ms", brief(large.size)), "ms", lower, 1, ours[1], one)
	b.report.ratio(fmt.Sprintf("board of 50 read after one change, %s / %s", brief(large.size), brief(small.size)), "ms", lower, 1.6, ours[1], base[1])
	return nil
}

// change takes the place of the fold, files a call and times both ways on.
func (l *archive) change(ctx context.Context) (fold, read float64, err error) {
	if err := l.quiet(ctx); err != nil {
		return 0, 0, err
	}
	const hold, free = "SELECT pg_advisory_lock(7201002)", "SELECT pg_advisory_unlock(7201002)"
	if _, err := l.prepared.Exec(ctx, hold); err != nil {
		return 0, 0, err
	}
	defer func() { _, _ = l.prepared.Exec(ctx, free) }()
	c, err := dial(ctx, l.stack.Hub)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	l.changes++
	f := &filer{tokens: l.tokens}
	if err := f.file(c, l.changes, "kalshi-BENCH-"+fmt.Sprint(writeMarkets-1-l.changes)); err != nil {
		return 0, 0, err
	}
	if err := l.drained(ctx); err != nil {
		return 0, 0, err
	}
	board := statement{"board_scores", fixed(people, "''", "50", month)}
	for range 3 { // the first ones fill the caches of the connection
		p, err := l.explain(ctx, l.prepared, board, 0)
		if err != nil {
			return 0, 0, err
		}
		read = p.ms
	}
	for range 3 {
		if fold, err = l.foldOnce(ctx); err != nil {
			return 0, 0, err
		}
	}
	return fold, read, nil
}

// foldOnce does one fold as the ledger does it, and takes it back.
func (l *archive) foldOnce(ctx context.Context) (ms float64, err error) {
	tx, err := l.prepared.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	var seq int64
	var since time.Time
	for _, name := range []string{"board_plan", "board_keep", "board_mark", "board_age"} {
		if err := prepare(ctx, l.prepared, name); err != nil {
			return 0, err
		}
	}
	began := time.Now().UTC().Add(-28*24*time.Hour - 10*time.Second).Format("'2006-01-02T15:04:05.000000Z'")
	plan := "EXECUTE board_plan(25000, " + began + ")"
	var done bool
	if err := tx.QueryRow(ctx, plan, pgx.QueryExecModeSimpleProtocol).Scan(&seq, &since, &done); err != nil {
		return 0, err
	}
	to := since.Format("'2006-01-02T15:04:05.000000Z07:00'")
	for _, step := range []string{
		plan, fmt.Sprintf("EXECUTE board_keep(%d, %s)", seq, to), fmt.Sprintf("EXECUTE board_mark(%d)", seq), fmt.Sprintf("EXECUTE board_age(%d, %s)", seq, to),
	} {
		p, err := explained(ctx, l.prepared, step)
		if err != nil {
			return 0, err
		}
		ms += p.ms
	}
	return ms, nil
}

// quiet waits until the boards have taken in the whole feed.
func (l *archive) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		behind, err := query[int64](ctx, l.db, "SELECT h.seq - b.seq FROM api.feed_head h, api.board_state b")
		if err != nil || behind[0] == 0 {
			return err
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// plainAggregate is the board as one asks for it without counters.
const plainAggregate = `SELECT s.user_id, sum(r.score) AS score, count(*), count(*) FILTER (WHERE r.status = 'won'), count(*) FILTER (WHERE r.status = 'lost')
	FROM api.signals s LEFT JOIN api.signal_results r ON r.signal_id = s.id GROUP BY s.user_id ORDER BY score DESC LIMIT 40`

// recount holds `api recount`, which compares every counter, against one aggregate.
func (b *bench) recount(ctx context.Context, l *archive) error {
	var ours, plain []float64
	for range b.rounds {
		b.calm(ctx)
		before := treeTime(l.stack.pid("postgres"))
		if err := l.run(ctx, plainAggregate); err != nil {
			return err
		}
		plain = append(plain, float64((treeTime(l.stack.pid("postgres")) - before).Milliseconds()))
		before = treeTime(l.stack.pid("postgres"))
		if err := l.command(ctx, "recount"); err != nil {
			return err
		}
		ours = append(ours, float64((treeTime(l.stack.pid("postgres")) - before).Milliseconds()))
	}
	b.report.ratio("recount of "+brief(l.size)+" / the board as an aggregate, cpu", "ms", lower, 1.3, ours, plain)
	return nil
}

// command runs a command of the ledger on its database.
func (l *archive) command(ctx context.Context, args ...string) error {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", l.stack.pid("api")))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(l.stack.dir, "bin", "api"), args...)
	cmd.Env = strings.Split(strings.TrimRight(string(env), "\x00"), "\x00")
	if out, err := cmd.CombinedOutput(); err != nil {
		return commandError(err, out)
	}
	return nil
}

// export streams a record of 10,000 calls and looks at the memory of hub and api; it
// comes last, because that record is in no counter.
func (b *bench) export(ctx context.Context, l *archive) error {
	for _, n := range []int{0, longRecord} {
		if n > 0 {
			if _, err := l.db.Exec(ctx, "SELECT bench.add_record(bench.operator($1::int), $2)", 1, n); err != nil {
				return err
			}
		}
		for _, part := range []string{"hub", "api"} { // from here on the peak counts anew
			if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", l.stack.pid(part)), []byte("5"), 0); err != nil {
				return err
			}
		}
		began := time.Now()
		bytes, err := stream(ctx, l.stack.Hub+"/api/operator/operator000001/record")
		if err != nil {
			return err
		}
		b.report.note("record of %d calls: %.1f MB in %s, peak of the hub %.0f MB, of the api %.0f MB",
			n+50, float64(bytes)/1e6, time.Since(began).Round(time.Millisecond), peak(l.stack.pid("hub")), peak(l.stack.pid("api")))
	}
	return nil
}

func stream(ctx context.Context, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s was answered %d", url, res.StatusCode)
	}
	return n, err
}

// peak is the most memory that a process has held, in MB.
func peak(pid int) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kb float64
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(rest, &kb)
		}
	}
	return kb / 1024
}
