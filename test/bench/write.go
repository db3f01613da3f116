package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// filer makes calls that no key has made before on its market.
type filer struct {
	tokens []string
	prefix string
	next   atomic.Int64
}

// one files the next call. Markets are spread as the limit's are: any of 5,000.
func (f *filer) one(c *client) error {
	n := f.next.Add(1) - 1
	users := int64(len(f.tokens))
	u := n % users
	m := (n/users + u*7919) % writeMarkets
	return f.file(c, int(u), f.prefix+strconv.FormatInt(m, 10))
}

func (f *filer) file(c *client, user int, market string) error {
	body := make([]byte, 0, 160)
	body = append(body, `{"marketId":"`...)
	body = append(body, market...)
	body = append(body, `","direction":"YES","priceAtPrediction":5200,"textTake":"the order book leans early","source":"web"}`...)
	a, err := c.post("/api/predictions", "Authorization: Bearer "+f.tokens[user], body)
	if err == nil && a.status == http.StatusServiceUnavailable {
		return errAway
	}
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("a call was answered %d: %s", a.status, a.body)
	}
	return err
}

// writeTargets by clients: the rate against the INSERT of pgbench.
var writeTargets = map[int]float64{8: 0.40, 64: 1.1, 256: 1.6}

// write compares filing calls with one durable INSERT each, in the same Postgres.
func (b *bench) write(ctx context.Context) error {
	script, err := b.pgbenchScript(ctx)
	if err != nil {
		return err
	}
	stop := b.dateQuotes(ctx)
	defer stop()
	venue := &filer{tokens: b.seed.tokens, prefix: "kalshi-BENCH-"}
	native := &filer{tokens: b.seed.tokens, prefix: "native-bench-"}
	fmt.Println("every key files once, so that the hub has heard of it")
	if _, err := load(ctx, b.stack.Hub, 64, time.Hour, until(venue, keys)); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for _, clients := range b.clients {
		if err := b.writeAt(ctx, script, clients, venue, native); err != nil {
			return err
		}
	}
	return nil
}

// dateEvery is well below QUOTE_MAX_AGE: no call waits for a venue.
const dateEvery = 5 * time.Second

// dateQuotes keeps the quotes of the venue's markets fresh until stop is called.
func (b *bench) dateQuotes(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(dateEvery)
		defer tick.Stop()
		for {
			if _, err := b.seed.db.Exec(ctx, "SELECT bench.date_quotes('kalshi-BENCH-', $1)", writeMarkets); err != nil && ctx.Err() == nil {
				b.report.note("quotes were not dated again: %v", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// stretch is one measured stretch of writes.
type stretch struct {
	rate, postgres, hub, api, redis, load float64 // per s; us a write
	p50, p99                              time.Duration
}

func (b *bench) writeAt(ctx context.Context, script string, clients int, venue, native *filer) error {
	var limit, ours, own []stretch
	for range b.rounds {
		if err := b.between(ctx); err != nil {
			return err
		}
		s, err := b.pgbench(ctx, script, clients)
		if err != nil {
			return err
		}
		fmt.Printf("write c=%d pgbench rate=%.0f postgres_us=%.1f\n", clients, s.rate, s.postgres)
		limit = append(limit, s)
		for _, side := range []struct {
			name string
			f    *filer
			to   *[]stretch
		}{{"venue markets", venue, &ours}, {"own markets", native, &own}} {
			if err := b.between(ctx); err != nil {
				return err
			}
			s, err := b.file(ctx, side.f, clients)
			if err != nil {
				return err
			}
			left, err := b.seed.backlog(ctx)
			if err != nil {
				return err
			}
			fmt.Printf("write c=%d %s rate=%.0f p50=%s p99=%s postgres_us=%.1f hub_us=%.1f api_us=%.1f redis_us=%.1f load_us=%.1f not_yet_in_feed=%d\n",
				clients, side.name, s.rate, s.p50, s.p99, s.postgres, s.hub, s.api, s.redis, s.load, left)
			*side.to = append(*side.to, s)
		}
	}
	rate := func(s stretch) float64 { return s.rate }
	cpu := func(s stretch) float64 { return s.postgres }
	cost := 0.0
	if clients >= 64 {
		cost = 0.25
	}
	job := fmt.Sprintf("write c=%d / INSERT, ", clients)
	b.report.ratio(job+"rate", "per s", higher, writeTargets[clients], each(ours, rate), each(limit, rate))
	b.report.ratio(job+"rate, own markets", "per s", higher, 0, each(own, rate), each(limit, rate))
	b.report.ratio(job+"postgres cpu", "us", lower, cost, each(ours, cpu), each(limit, cpu))
	return nil
}

// between lets the last stretch end in full: its events reach the feed.
func (b *bench) between(ctx context.Context) error {
	if err := b.seed.drained(ctx); err != nil {
		return err
	}
	b.calm(ctx)
	return ctx.Err()
}

func (b *bench) file(ctx context.Context, f *filer, clients int) (stretch, error) {
	parts := func() [5]time.Duration {
		return [5]time.Duration{
			treeTime(b.stack.pid("postgres")), procTime(b.stack.pid("hub")), procTime(b.stack.pid("api")),
			procTime(b.stack.pid("redis")), procTime(os.Getpid()),
		}
	}
	before := parts()
	done, err := load(ctx, b.stack.Hub, clients, b.length, f.one)
	if err != nil {
		return stretch{}, err
	}
	after := parts()
	if done.away > 0 {
		b.report.note("%d calls were answered 503 and not counted", done.away)
	}
	us := func(i int) float64 { return micros(after[i]-before[i], float64(done.n)) }
	return stretch{
		rate: done.rate(), postgres: us(0), hub: us(1), api: us(2), redis: us(3), load: us(4),
		p50: quantile(done.waits, 0.50), p99: quantile(done.waits, 0.99),
	}, nil
}

// errEnough ends a stretch that is counted and not timed.
var errEnough = errors.New("enough")

func until(f *filer, n int64) func(*client) error {
	return func(c *client) error {
		if f.next.Load() >= n {
			return errEnough
		}
		return f.one(c)
	}
}

const insertScript = `\set op random(1, 2000000000)
\set m random(1, 5000)
INSERT INTO bench_anchor.signals (operator_id, market_id, market_title, direction, price_bps, crowd_yes, text_take, source, ttr)
VALUES (:op, (500000+:m)::text, 'Will the central bank cut its rate in March?', 1, 5200, 5100, 'the order book leans early', 'web', 86400)
ON CONFLICT DO NOTHING RETURNING id;
`

func (b *bench) pgbenchScript(ctx context.Context) (string, error) {
	if err := b.seed.run(ctx, anchorSQL); err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "insert.sql")
	return path, os.WriteFile(path, []byte(insertScript), 0o644)
}

// pgbench runs the limit. It does not gain from more than 64 sessions.
func (b *bench) pgbench(ctx context.Context, script string, clients int) (stretch, error) {
	program, err := pgbenchPath()
	if err != nil {
		return stretch{}, err
	}
	pid := b.stack.pid("postgres")
	before := treeTime(pid)
	out, err := exec.CommandContext(ctx, program, "-n", "-M", "prepared", "-c", strconv.Itoa(min(clients, 64)), "-j1",
		"-T", fmt.Sprintf("%.0f", max(1, b.length.Seconds())), "-f", script, b.stack.Database).CombinedOutput()
	if err != nil {
		return stretch{}, commandError(err, out)
	}
	spent := treeTime(pid) - before
	var s stretch
	var n float64
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "tps = "):
			s.rate, err = strconv.ParseFloat(strings.Fields(line)[2], 64)
		case strings.HasPrefix(line, "number of transactions actually processed: "):
			count, _, _ := strings.Cut(strings.Fields(line)[5], "/")
			n, err = strconv.ParseFloat(count, 64)
		}
		if err != nil {
			return s, fmt.Errorf("pgbench said %q: %w", line, err)
		}
	}
	s.postgres = micros(spent, n)
	return s, nil
}
