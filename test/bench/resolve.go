package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// scatter is how many markets share a stretch of the table in the scattered
// layout: nine signals of others between any two, as after weeks of trading.
const scatter = 10

// layout is how the signals of one market lie in the table.
type layout struct {
	name    string
	markets int // filed on in turn
}

// resolution is one measured claim, ours or the limit's.
type resolution struct {
	took time.Duration
	wal  float64 // bytes a signal
	feed time.Duration
}

// resolve compares a claim that scores n signals with one raw UPDATE of as many
// rows.
func (b *bench) resolve(ctx context.Context) error {
	sql := anchorSQL + `CREATE INDEX ON bench_anchor.signals (created_at DESC, id DESC)
		WHERE status = 1 AND ((direction = 1 AND crowd_yes < 5000) OR (direction = 0 AND crowd_yes > 5000))`
	if err := b.seed.run(ctx, sql); err != nil {
		return err
	}
	layouts := []layout{{"together", 1}, {"scattered", scatter}}
	for _, n := range b.sizes {
		for _, l := range layouts {
			if err := b.addSignals(ctx, l, n); err != nil {
				return fmt.Errorf("add signals: %w", err)
			}
		}
	}
	for _, l := range layouts {
		var first float64
		for i, n := range b.sizes {
			took, err := b.resolveSize(ctx, l, n)
			if err != nil {
				return err
			}
			if i == 0 {
				first = took
				continue
			}
			b.report.note("resolve %s growth: %d signals take %.1f times as long as %d", l.name, n, took/first, b.sizes[0])
		}
	}
	return b.resolveAtOnce(ctx)
}

func marketPrefix(l layout, n int) string { return fmt.Sprintf("native-r%d-%s-", n, l.name) }

// addSignals fills both tables with the same rows: enough markets for all rounds.
func (b *bench) addSignals(ctx context.Context, l layout, n int) error {
	fmt.Printf("adding %d signals a market, %s\n", n, l.name)
	prefix := marketPrefix(l, n)
	groups := (b.rounds + l.markets - 1) / l.markets
	if _, err := b.seed.db.Exec(ctx, "SELECT bench.add_markets($1, 'manual', $2)", prefix, groups*l.markets); err != nil {
		return err
	}
	for g := range groups {
		if _, err := b.seed.db.Exec(ctx, "SELECT bench.add_signals($1, $2, $3, $4)", prefix, l.markets, n, g*l.markets); err != nil {
			return err
		}
		_, err := b.seed.db.Exec(ctx, `INSERT INTO bench_anchor.signals (operator_id, market_id, market_title, direction, price_bps, crowd_yes, text_take, source, ttr)
			SELECT 1000000 + i / $2, $1 || $4 + i % $2, 'Will the central bank cut its rate by at least 25 bps in March?', (i / $2) & 1, 5000 + i % 900, 5100,
				CASE WHEN i % 2 = 0 THEN 'the order book leans early' END, 'web', 86400
			FROM generate_series(0, $3::bigint * $2 - 1) i`, prefix, l.markets, n, g*l.markets)
		if err != nil {
			return err
		}
	}
	return b.seed.settle(ctx, "api.signals", "api.open_signals", "api.market_totals", "api.operator_totals", "bench_anchor.signals")
}

const rawUpdate = `UPDATE bench_anchor.signals SET status = CASE WHEN direction = 1 THEN 1 ELSE 2 END,
	score = CASE WHEN direction = 1 THEN (10000 - price_bps) / 10 ELSE -price_bps / 10 END, outcome = 1, close_price = 6400,
	clv_bps = CASE WHEN direction = 1 THEN 6400 - price_bps ELSE 3600 - price_bps END,
	scoring_version = '1.0', scoring_vertical = 'ECONOMY', resolved_at = now()
	WHERE market_id = $1 AND status = 0`

func (b *bench) resolveSize(ctx context.Context, l layout, n int) (float64, error) {
	var ours, limit []resolution
	prefix := marketPrefix(l, n)
	for round := range b.rounds {
		market := prefix + strconv.Itoa(round)
		if err := b.seed.settle(ctx, "bench_anchor.signals", "api.operator_scores", "api.operator_lane_scores", "api.open_signals"); err != nil {
			return 0, err
		}
		raw, err := b.timed(ctx, n, func() error {
			tag, err := b.seed.db.Exec(ctx, rawUpdate, pgx.QueryExecModeExec, market)
			if err == nil && tag.RowsAffected() != int64(n) {
				err = fmt.Errorf("the raw UPDATE changed %d rows, not %d", tag.RowsAffected(), n)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		claim, err := b.timed(ctx, n, func() error { return b.finalize(ctx, market, n) })
		if err != nil {
			return 0, err
		}
		began := time.Now()
		if err := b.seed.drained(ctx); err != nil {
			return 0, err
		}
		claim.feed = time.Since(began)
		fmt.Printf("resolve n=%d %s: raw UPDATE %s (%.0f WAL bytes a signal), claim %s (%.1f us and %.0f WAL bytes a signal), its rows in the feed %s later\n",
			n, l.name, raw.took.Round(time.Millisecond), raw.wal, claim.took.Round(time.Millisecond), micros(claim.took, float64(n)), claim.wal, claim.feed.Round(time.Millisecond))
		ours, limit = append(ours, claim), append(limit, raw)
	}
	ms := func(r resolution) float64 { return float64(r.took.Microseconds()) / 1000 }
	wal := func(r resolution) float64 { return r.wal }
	target := 0.0
	if n >= 100_000 {
		target = 0.8
	}
	job := fmt.Sprintf("resolve %d %s / raw UPDATE, ", n, l.name)
	b.report.ratio(job+"time", "ms", lower, target, each(ours, ms), each(limit, ms))
	b.report.ratio(job+"wal", "bytes", lower, 0, each(ours, wal), each(limit, wal))
	return median(each(ours, ms)), nil
}

// timed measures one resolution after a checkpoint.
func (b *bench) timed(ctx context.Context, n int, do func() error) (resolution, error) {
	const position = "SELECT pg_current_wal_lsn() - '0/0'"
	if err := b.seed.settle(ctx); err != nil {
		return resolution{}, err
	}
	b.calm(ctx)
	before, err := query[float64](ctx, b.seed.db, position)
	if err != nil {
		return resolution{}, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return resolution{}, err
	}
	took := time.Since(began)
	after, err := query[float64](ctx, b.seed.db, position)
	if err != nil {
		return resolution{}, err
	}
	return resolution{took: took, wal: (after[0] - before[0]) / float64(n)}, nil
}

// finalize claims an outcome at the public door; n below 0 asks for no count.
func (b *bench) finalize(ctx context.Context, market string, n int) error {
	c, err := dial(ctx, b.stack.Hub)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = b.finalizeOn(c, market, n)
	return err
}

func (b *bench) finalizeOn(c *client, market string, n int) (scored int, err error) {
	a, err := c.post("/api/resolution/finalize", "X-Admin-Secret: "+b.stack.Admin, []byte(`{"marketId":"`+market+`","verdict":"YES"}`))
	if err != nil {
		return 0, err
	}
	var said struct{ Scored int }
	if err := json.Unmarshal(a.body, &said); err != nil {
		return 0, err
	}
	if a.status != http.StatusOK || n >= 0 && said.Scored != n {
		return 0, fmt.Errorf("the claim of %s was answered %d: %s", market, a.status, a.body)
	}
	return said.Scored, nil
}

const (
	atOnceMarkets = 66 // resolved while calls on them arrive: each of 0 to 10 calls, six times
	atOnceWriters = 16
)

// resolveAtOnce resolves markets in the moment in which they are filed on, while
// others file elsewhere. Its limit is a raw UPDATE of ten rows under the same load.
func (b *bench) resolveAtOnce(ctx context.Context) error {
	if _, err := b.seed.db.Exec(ctx, "SELECT bench.add_markets('native-now-', 'manual', $1)", atOnceMarkets); err != nil {
		return err
	}
	_, err := b.seed.db.Exec(ctx, `INSERT INTO bench_anchor.signals (operator_id, market_id, market_title, direction, price_bps, source)
		SELECT i, 'now-' || i / 10, 'now', 1, 5000, 'web' FROM generate_series(0, $1::int * 10 - 1) i`, atOnceMarkets)
	if err != nil {
		return err
	}
	// Other calls than those of the write section, which counts from zero.
	f := &filer{tokens: b.seed.tokens, prefix: "native-bench-"}
	f.next.Store(int64(keys) * writeMarkets / 2)
	busy, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var loadErr error
	wg.Go(func() { _, loadErr = load(busy, b.stack.Hub, atOnceWriters, time.Hour, f.one) })
	waits, raw, err := b.claimsAtOnce(ctx, f)
	stop()
	wg.Wait()
	if err != nil {
		return err
	}
	if loadErr != nil && busy.Err() == nil {
		return loadErr
	}
	b.report.note("resolve at once: %d markets with 0 to 10 calls arriving, %d writers elsewhere: claim p50 %s p99 %s, raw UPDATE of 10 rows p50 %s p99 %s",
		len(waits), atOnceWriters, quantile(waits, 0.5), quantile(waits, 0.99), quantile(raw, 0.5), quantile(raw, 0.99))
	p50 := func(list []time.Duration) []float64 { return []float64{float64(quantile(list, 0.5).Microseconds())} }
	b.report.ratio("resolve at once, p50 / raw UPDATE of 10 rows", "us", lower, 0, p50(waits), p50(raw))
	return b.seed.drained(ctx)
}

func (b *bench) claimsAtOnce(ctx context.Context, f *filer) (waits, raw []time.Duration, err error) {
	conns := make([]*client, 11)
	for i := range conns {
		if conns[i], err = dial(ctx, b.stack.Hub); err != nil {
			return nil, nil, err
		}
		defer conns[i].close()
	}
	for k := range atOnceMarkets {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		market := "native-now-" + strconv.Itoa(k)
		var wg sync.WaitGroup
		for i := range k % 11 {
			// A call that comes too late is refused, and that is right.
			wg.Go(func() { _ = f.file(conns[i], keys-1-(k*11+i), market) })
		}
		began := time.Now()
		_, err := b.finalizeOn(conns[10], market, -1)
		waits = append(waits, time.Since(began))
		wg.Wait()
		if err != nil {
			return nil, nil, err
		}
		began = time.Now()
		if _, err := b.seed.db.Exec(ctx, rawUpdate, "now-"+strconv.Itoa(k)); err != nil {
			return nil, nil, err
		}
		raw = append(raw, time.Since(began))
	}
	return waits, raw, nil
}
