package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// filer files calls with the operator keys in tokens. The function market returns the ID of market i. Each call uses a
// different pair of operator and market.
type filer struct {
	tokens  []string
	market  func(i int64) string
	markets int64
	next    atomic.Int64
}

// newFiler returns a filer for writeMarkets markets, whose IDs are prefix and a number from 0.
func newFiler(tokens []string, prefix string) *filer {
	return &filer{tokens: tokens, markets: writeMarkets, market: func(i int64) string { return prefix + strconv.FormatInt(i, 10) }}
}

// one files the next call over the connection c. It distributes the calls over the markets in the same way as pgbench distributes
// its INSERTs.
func (f *filer) one(c *client) error {
	n, users := f.next.Add(1)-1, int64(len(f.tokens))
	u := n % users
	return f.file(c, int(u), f.market((n/users+u*7919)%f.markets))
}

// file files a call on a market over the connection c, with the key f.tokens[operator]. It returns errShed for a response with
// status 503.
func (f *filer) file(c *client, operator int, market string) error {
	status, body, err := c.post("/api/predictions", "Authorization: Bearer "+f.tokens[operator],
		`{"marketId":"`+market+`","direction":"YES","priceAtPrediction":5200,"textTake":"the order book leans early","source":"web"}`)
	switch {
	case err != nil:
		return err
	case status == http.StatusServiceUnavailable:
		return errShed
	case status != http.StatusOK:
		return fmt.Errorf("a call was answered %d; want 200: %s", status, body)
	}
	return nil
}

// warm files one call with each operator key, so that the hub caches all keys.
func (b *bench) warm(hub string, f *filer) {
	n := int64(len(f.tokens))
	b.load(hub, 64, math.MaxInt64, func(c *client) error {
		if f.next.Load() >= n {
			return errEnough
		}
		return f.one(c)
	})
}

// writeTargets contains the minimum of the rate of filed calls, divided by the INSERT rate of pgbench. The key is the number of
// clients.
var writeTargets = map[int]float64{8: 0.40, 64: 1.1, 256: 1.6}

// write compares filing calls through the public API with single durable INSERTs by pgbench in the same Postgres.
func (b *bench) write() {
	script := filepath.Join(b.dir, "insert.sql")
	b.main.exec(anchorSQL)
	check(os.WriteFile(script, []byte(insertScript), 0o644))
	b.main.dateQuotes()
	venue, native := newFiler(b.main.tokens, "kalshi-BENCH-"), newFiler(b.main.tokens, "native-bench-")
	b.warm(b.main.Hub, venue)
	for _, clients := range b.clients {
		b.writeAt(script, clients, venue, native)
	}
	b.notifications(native, b.clients[len(b.clients)-1])
}

// dateQuotes sets the time of the quotes to the current time, every 5 s until the end of the current scope. No filed call then
// waits for a new quote of a venue.
func (s *system) dateQuotes() {
	const date = "SELECT bench.date_quotes('kalshi-BENCH-', $1)"
	s.exec(date, writeMarkets) // before the first call
	stop, done := make(chan struct{}), sync.WaitGroup{}
	db := s.DB(s.b)
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-s.b.ctx.Done():
				return
			case <-time.After(5 * time.Second):
			}
			if _, err := db.Exec(s.b.ctx, date, writeMarkets); err != nil {
				s.b.Errorf("date quotes: %v", err)
			}
		}
	})
	s.b.Cleanup(func() {
		close(stop)
		done.Wait()
	})
}

// filed contains the results of filing calls or of pgbench. rate is in calls per second. postgres, hub, api, redis and load are
// CPU times in microseconds per call.
type filed struct {
	rate, postgres, hub, api, redis, load float64
	n                                     int
	p50, p99                              time.Duration
}

func (b *bench) writeAt(script string, clients int, venue, native *filer) {
	var limit, ours, own []filed
	for range b.rounds {
		b.awaitQuiet(b.main)
		s := b.pgbench(script, clients)
		fmt.Printf("write c=%d pgbench rate=%.0f postgres_us=%.1f\n", clients, s.rate, s.postgres)
		limit = append(limit, s)
		for _, side := range []struct {
			name string
			f    *filer
			to   *[]filed
		}{{"venue markets", venue, &ours}, {"own markets", native, &own}} {
			b.awaitQuiet(b.main)
			s := b.file(b.main, side.f, clients)
			fmt.Printf("write c=%d %s rate=%.0f p50=%s p99=%s postgres_us=%.1f hub_us=%.1f api_us=%.1f redis_us=%.1f "+
				"load_us=%.1f not_yet_in_feed=%d\n", clients, side.name, s.rate, s.p50, s.p99, s.postgres, s.hub, s.api, s.redis,
				s.load, b.main.backlog())
			*side.to = append(*side.to, s)
		}
	}
	rate := func(s filed) float64 { return s.rate }
	cpu := func(s filed) float64 { return s.postgres }
	cost := 0.0
	if clients >= 64 {
		cost = 0.25
	}
	job := fmt.Sprintf("write c=%d / INSERT, ", clients)
	b.report.ratio(job+"rate", "per s", higher, writeTargets[clients], each(ours, rate), each(limit, rate))
	b.report.ratio(job+"rate, own markets", "per s", higher, 0, each(own, rate), each(limit, rate))
	b.report.ratio(job+"postgres cpu", "us", lower, cost, each(ours, cpu), each(limit, cpu))
}

// awaitQuiet waits until the events of the previous measurement are published, and until other work on the machine pauses.
func (b *bench) awaitQuiet(s *system) {
	s.awaitPublished()
	b.awaitIdle()
}

// parts returns the CPU times of Postgres, hub, api, Redis, and this process, which generates the load.
func (s *system) parts() [5]time.Duration {
	return [5]time.Duration{
		treeTime(s.pid("postgres")), procTime(s.pid("hub")), procTime(s.pid("api")), procTime(s.pid("redis")), procTime(os.Getpid()),
	}
}

// file files calls from a number of clients for the length of one measurement and returns the results.
func (b *bench) file(s *system, f *filer, clients int) filed {
	before := s.parts()
	done := b.load(s.Hub, clients, b.length, f.one)
	after := s.parts()
	us := func(i int) float64 { return micros(after[i]-before[i], float64(done.n)) }
	return filed{
		rate: done.rate(), postgres: us(0), hub: us(1), api: us(2), redis: us(3), load: us(4), n: done.n,
		p50: quantile(done.waits, 0.50), p99: quantile(done.waits, 0.99),
	}
}

const insertScript = `\set op random(1, 2000000000)
\set m random(1, 5000)
INSERT INTO bench_anchor.signals (operator_id, market_id, market_title, direction, price_bps, crowd_yes, text_take, source, ttr)
VALUES (:op, (500000+:m)::text, 'Will the central bank cut its rate in March?', 1, 5200, 5100,
    'the order book leans early', 'web', 86400)
ON CONFLICT DO NOTHING RETURNING id;
`

// pgbench runs the SQL script with pgbench for the length of one measurement and returns the results. It uses at most 64
// sessions, because more sessions are not faster.
func (b *bench) pgbench(script string, clients int) (s filed) {
	pid := b.main.pid("postgres")
	before := treeTime(pid)
	out := output(exec.CommandContext(b.ctx, pgbench(), "-n", "-M", "prepared", "-c", strconv.Itoa(min(clients, 64)), "-j1",
		"-T", fmt.Sprintf("%.0f", max(1, b.length.Seconds())), "-f", script, b.main.DatabaseURL))
	spent := treeTime(pid) - before
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "tps = "); ok {
			s.rate = must(strconv.ParseFloat(strings.Fields(rest)[0], 64))
		}
		if rest, ok := strings.CutPrefix(line, "number of transactions actually processed: "); ok {
			count, _, _ := strings.Cut(strings.TrimSpace(rest), "/")
			s.n = must(strconv.Atoi(count))
		}
	}
	s.postgres = micros(spent, float64(s.n))
	return s
}
