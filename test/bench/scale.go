package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/test/system/stack"
)

// Numbers of calls, operators and markets in the small ledger, and the number of samples of a page in a round.
const (
	scaleBase      = 10_000
	scaleOperators = scaleBase / 50
	scaleMarkets   = scaleBase / 200
	pageSamples    = 60
)

// scale compares a large ledger with a small one, for each size in the option ledgers. The two systems run at the same time
// and are measured alternately.
func (b *bench) scale() {
	for _, size := range b.ledgers {
		b.scope(func() { b.scaleTo(size) })
	}
}

func (b *bench) scaleTo(size int) {
	small, large := b.startLedger(scaleBase), b.startLedger(size)
	for _, l := range []*ledger{small, large} {
		if l.size <= 2_000_000 { // for larger ledgers the counters are compared when recount is measured
			l.command("boards", "verify")
		}
	}
	b.comparePlans(small, large)
	b.comparePages(small, large)
	b.recount(large)
	b.compareWrites(small, large)
	b.compareChange(small, large)
	b.export(large)
}

// scalePage is a public GET request that is measured with a small and with a large ledger. The function url returns the URL of
// sample k. Unless cached is true, each sample requests a different URL, so that no response comes from a cache.
type scalePage struct {
	name   string
	cached bool // responses may come from a cache, so the page has no target
	url    func(l *ledger, k int) string
}

var scalePages = []scalePage{
	{"feed, out of the cache", true, func(l *ledger, k int) string { return l.Hub + "/api/signals/feed?type=recent" }},
	{"feed, deep page", false, func(l *ledger, k int) string {
		at := l.filled.Add(-10*24*time.Hour - time.Duration(pick(k, l.size/2))*(1000*24*time.Hour/time.Duration(l.size)))
		cursor := protocol.NewCursor("00000000-0000-0000-0000-000000000000", protocol.TimeKey(at))
		return l.API + "/api/v1/signals?limit=50&cursor=" + cursor.Encode()
	}},
	{"market's ledger", false, func(l *ledger, k int) string {
		// The small ledger has only 50 markets. Another page length makes the request different.
		return fmt.Sprintf("%s/api/m/kalshi-SIZE-%d/signals?limit=%d", l.Hub, pick(k, l.markets), 48+k/scaleMarkets%5)
	}},
	{"crowd", true, func(l *ledger, k int) string {
		return fmt.Sprintf("%s/api/m/kalshi-SIZE-%d/crowd", l.Hub, pick(k, l.markets))
	}},
	{"board by score", false, func(l *ledger, k int) string {
		return fmt.Sprintf("%s/api/v1/signals/leaderboard?limit=%d", l.API, 200-k%150)
	}},
	{"board by edge", false, func(l *ledger, k int) string {
		return fmt.Sprintf("%s/api/v1/signals/leaderboard?order=edge&limit=%d", l.API, 200-k%150)
	}},
	{"operator's page", false, func(l *ledger, k int) string { return l.Hub + "/api/operator/" + l.handle(k) }},
	{"operator's skill", false, func(l *ledger, k int) string { return l.Hub + "/api/operator/" + l.handle(k) + "/skill" }},
}

// handle returns the handle of the operator for sample k. It returns a different operator for each sample of three rounds, even
// in a ledger of 200 operators.
func (l *ledger) handle(k int) string {
	return fmt.Sprintf("operator%06d", (k*(l.operators/scaleOperators)+k/scaleOperators)%l.operators)
}

// comparePages reads each page of scalePages alternately from the two ledgers and compares the latencies and the CPU times.
func (b *bench) comparePages(small, large *ledger) {
	for _, p := range scalePages {
		figures := map[*ledger]*[2][]float64{small: {}, large: {}}
		for round := range b.rounds {
			b.awaitIdle()
			for _, l := range []*ledger{small, large} {
				p50, cpu := l.readPages(p, round*pageSamples)
				to := figures[l]
				to[0], to[1] = append(to[0], p50), append(to[1], cpu)
			}
		}
		target := 1.6
		if p.cached {
			target = 0
		}
		job := fmt.Sprintf("%s through the public API, %s / %s, ", p.name, brief(large.size), brief(small.size))
		b.report.ratio(job+"p50", "ms", lower, target, figures[large][0], figures[small][0])
		b.report.ratio(job+"cpu", "us", lower, 0, figures[large][1], figures[small][1])
	}
}

// readPages reads a page pageSamples times, starting with sample first. It returns the median latency in milliseconds, and the
// CPU time of one sample in microseconds, summed over Postgres, hub, api and Redis. It does not count responses with status 503.
func (l *ledger) readPages(p scalePage, first int) (p50, cpu float64) {
	var waits []time.Duration
	before := l.cpuTime()
	for k := range pageSamples {
		began := time.Now()
		a := stack.Get(l.b, p.url(l, first+k))
		if a.Status == http.StatusServiceUnavailable {
			l.b.report.note("%s was answered 503 and is not counted", p.name)
			continue
		}
		a.Require(http.StatusOK)
		waits = append(waits, time.Since(began))
	}
	if len(waits) == 0 {
		check(fmt.Errorf("%s: every page was answered 503", p.name))
	}
	return millis(quantile(waits, 0.5)), micros(l.cpuTime()-before, float64(len(waits)))
}

// cpuTime returns the CPU time that Postgres, hub, api and Redis have used so far.
func (s *system) cpuTime() time.Duration {
	parts := s.parts()
	return parts[0] + parts[1] + parts[2] + parts[3]
}

// brief formats a number in a short form: 10k for 10000, 2M for 2000000.
func brief(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
