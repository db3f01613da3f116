package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// layout is a physical order of the calls in their table.
type layout struct {
	name    string
	markets int // number of markets whose calls alternate in the table
}

// layouts lists the measured layouts. In "together", the calls of a market are adjacent in the table. In "scattered", calls of
// nine other markets are between two calls of a market.
var layouts = []layout{{"together", 1}, {"scattered", 10}}

// resolution contains the measurements of one resolution of a market, by the product or by the raw UPDATE.
type resolution struct {
	took time.Duration
	wal  float64 // bytes per call
}

// resolve measures how long the product takes to resolve a market, for each layout and each number of calls in b.sizes. It
// compares the resolution with one raw UPDATE of the same number of database rows. It then measures several resolutions at
// the same time.
func (b *bench) resolve() {
	b.main.exec(anchorSQL + `CREATE INDEX ON bench_anchor.signals (created_at DESC, id DESC)
		WHERE status = 1 AND ((direction = 1 AND crowd_yes < 5000) OR (direction = 0 AND crowd_yes > 5000))`)
	for _, n := range b.sizes {
		for _, l := range layouts {
			b.addCalls(l, n)
		}
	}
	for _, l := range layouts {
		first := 0.0
		for i, n := range b.sizes {
			took := b.resolveSize(l, n)
			if i == 0 {
				first = took
				continue
			}
			b.report.note("resolve %s growth: %d signals take %.1f times as long as %d", l.name, n, took/first, b.sizes[0])
		}
	}
	b.resolveAtOnce()
}

func marketPrefix(l layout, n int) string { return fmt.Sprintf("native-r%d-%s-", n, l.name) }

// addCalls inserts markets with n calls each into the tables of the product, and equal calls into the table for the raw UPDATE.
// It creates enough markets for all rounds.
func (b *bench) addCalls(l layout, n int) {
	fmt.Printf("adding %d signals a market, %s\n", n, l.name)
	prefix := marketPrefix(l, n)
	groups := (b.rounds + l.markets - 1) / l.markets
	b.main.exec("SELECT bench.add_markets($1, 'manual', $2)", prefix, groups*l.markets)
	for g := range groups {
		b.main.exec("SELECT bench.add_signals($1, $2, $3, $4)", prefix, l.markets, n, g*l.markets)
		b.main.exec(`INSERT INTO bench_anchor.signals
				(operator_id, market_id, market_title, direction, price_bps, crowd_yes, text_take, source, ttr)
			SELECT 1000000 + i / $2, $1 || $4 + i % $2, 'Will the central bank cut its rate by at least 25 bps in March?', (i / $2) & 1,
				5000 + i % 900, 5100, CASE WHEN i % 2 = 0 THEN 'the order book leans early' END, 'web', 86400
			FROM generate_series(0, $3::bigint * $2 - 1) i`, prefix, l.markets, n, g*l.markets)
	}
	b.main.settle("api.signals", "api.open_signals", "api.market_totals", "api.operator_totals", "bench_anchor.signals")
}

const rawUpdate = `UPDATE bench_anchor.signals SET status = CASE WHEN direction = 1 THEN 1 ELSE 2 END,
	score = CASE WHEN direction = 1 THEN (10000 - price_bps) / 10 ELSE -price_bps / 10 END, outcome = 1, close_price = 6400,
	clv_bps = CASE WHEN direction = 1 THEN 6400 - price_bps ELSE 3600 - price_bps END,
	scoring_version = '1.0', scoring_vertical = 'ECONOMY', resolved_at = now()
	WHERE market_id = $1 AND status = 0`

// resolveSize resolves markets with n calls in the layout, and compares this with a raw UPDATE. It returns the median time of a
// resolution in milliseconds.
func (b *bench) resolveSize(l layout, n int) float64 {
	var ours, limit []resolution
	for round := range b.rounds {
		market := marketPrefix(l, n) + strconv.Itoa(round)
		b.main.settle("bench_anchor.signals", "api.operator_scores", "api.operator_lane_scores", "api.open_signals")
		raw := b.timed(n, func() {
			tag := must(b.main.DB(b).Exec(b.ctx, rawUpdate, pgx.QueryExecModeExec, market))
			if tag.RowsAffected() != int64(n) {
				check(fmt.Errorf("the raw UPDATE changed %d rows; want %d", tag.RowsAffected(), n))
			}
		})
		claim := b.timed(n, func() {
			c := dial(b.main.Hub)
			defer func() { _ = c.Close() }()
			if scored := b.finalize(c, market); scored != n {
				check(fmt.Errorf("the resolution of %s scored %d calls; want %d", market, scored, n))
			}
		})
		began := time.Now()
		b.main.awaitPublished()
		fmt.Printf("resolve n=%d %s: raw UPDATE %s (%.0f WAL bytes a signal), claim %s (%.1f us and %.0f WAL bytes a signal), "+
			"its rows in the feed %s later\n", n, l.name, raw.took.Round(time.Millisecond), raw.wal, claim.took.Round(time.Millisecond),
			micros(claim.took, float64(n)), claim.wal, time.Since(began).Round(time.Millisecond))
		ours, limit = append(ours, claim), append(limit, raw)
	}
	ms := func(r resolution) float64 { return millis(r.took) }
	wal := func(r resolution) float64 { return r.wal }
	target := 0.0
	if n >= 100_000 {
		target = 0.8
	}
	job := fmt.Sprintf("resolve %d %s / raw UPDATE, ", n, l.name)
	b.report.ratio(job+"time", "ms", lower, target, each(ours, ms), each(limit, ms))
	b.report.ratio(job+"wal", "bytes", lower, 0, each(ours, wal), each(limit, wal))
	return quartile(each(ours, ms), 2)
}

// timed makes a checkpoint and then calls the function do, which resolves n calls. It returns the duration of do, and the WAL
// bytes per call.
func (b *bench) timed(n int, do func()) resolution {
	b.main.settle()
	b.awaitIdle()
	before, began := b.main.walPosition(), time.Now()
	do()
	took := time.Since(began)
	return resolution{took, float64(b.main.walPosition()-before) / float64(n)}
}

// finalize resolves a market as YES through the public API and returns the number of scored calls.
func (b *bench) finalize(c *client, market string) int {
	status, body, err := c.post("/api/resolution/finalize", "X-Admin-Secret: "+b.main.AdminSecret,
		`{"marketId":"`+market+`","verdict":"YES"}`)
	check(err)
	var answer struct{ Scored int }
	check(json.Unmarshal(body, &answer))
	if status != http.StatusOK {
		check(fmt.Errorf("the resolution of %s was answered %d: %s", market, status, body))
	}
	return answer.Scored
}

const (
	atOnceMarkets = 66 // six markets for each number of calls from 0 to 10
	atOnceWriters = 16
)

// resolveAtOnce resolves several markets at the same time. Meanwhile, clients file calls on these markets and on other markets.
// The limit is a raw UPDATE of ten database rows under the same load.
func (b *bench) resolveAtOnce() {
	b.main.exec("SELECT bench.add_markets('native-now-', 'manual', $1)", atOnceMarkets)
	b.main.exec(`INSERT INTO bench_anchor.signals (operator_id, market_id, market_title, direction, price_bps, source)
		SELECT i, 'now-' || i / 10, 'now', 1, 5000, 'web' FROM generate_series(0, $1::int * 10 - 1) i`, atOnceMarkets)
	f := newFiler(b.main.tokens, "native-bench-")
	f.next.Store(int64(keys) * writeMarkets / 2) // the section write uses the pairs from 0
	stop := make(chan struct{})
	loaded := make(chan error, 1)
	go func() {
		loaded <- recoverError(func() {
			b.load(b.main.Hub, atOnceWriters, math.MaxInt64, func(c *client) error {
				select {
				case <-stop:
					return errEnough
				default:
					return f.one(c)
				}
			})
		})
	}()
	waits, raw := b.claimsAtOnce(f)
	close(stop)
	check(<-loaded)
	b.report.note("resolve at once: %d markets with 0 to 10 calls arriving, %d writers elsewhere: claim p50 %s p99 %s, "+
		"raw UPDATE of 10 rows p50 %s p99 %s", len(waits), atOnceWriters, quantile(waits, 0.5), quantile(waits, 0.99),
		quantile(raw, 0.5), quantile(raw, 0.99))
	p50 := func(list []time.Duration) []float64 { return []float64{float64(quantile(list, 0.5).Microseconds())} }
	b.report.ratio("resolve at once, p50 / raw UPDATE of 10 rows", "us", lower, 0, p50(waits), p50(raw))
	b.main.awaitPublished()
}

func (b *bench) claimsAtOnce(f *filer) (waits, raw []time.Duration) {
	conns := make([]*client, 11)
	for i := range conns {
		conns[i] = dial(b.main.Hub)
		defer func() { _ = conns[i].Close() }()
	}
	for k := range atOnceMarkets {
		market := "native-now-" + strconv.Itoa(k)
		var wg sync.WaitGroup
		for i := range k % 11 {
			// A call that arrives after the resolution is refused.
			wg.Go(func() { _ = f.file(conns[i], keys-1-(k*11+i), market) })
		}
		began := time.Now()
		b.finalize(conns[10], market)
		waits = append(waits, time.Since(began))
		wg.Wait()
		began = time.Now()
		b.main.exec(rawUpdate, "now-"+strconv.Itoa(k))
		raw = append(raw, time.Since(began))
	}
	return waits, raw
}
