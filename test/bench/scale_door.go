package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// door is a page at the public doors; each sample is another page, so that none of
// them comes out of a cache but where it says so.
type door struct {
	name string
	path func(l *archive, k int) string
	cold bool // not out of a cache: held to the target
}

// aHandle is another operator for each sample of a run of three rounds, in a small
// ledger of 200, too: neither side has them in a cache.
func aHandle(l *archive, k int) string {
	return fmt.Sprintf("operator%06d", (k*(l.operators/scaleOperators)+k/scaleOperators)%l.operators)
}

var scaleDoors = []door{
	{"feed, out of the cache", func(l *archive, k int) string { return l.stack.Hub + "/api/signals/feed?type=recent" }, false},
	{"feed, deep page", func(l *archive, k int) string {
		at := l.filled.Add(-10*24*time.Hour - time.Duration(pick(k, l.size/2))*(1000*24*time.Hour/time.Duration(l.size)))
		return l.stack.API + "/api/v1/signals?limit=50&cursor=" + syntax.NewCursor("00000000-0000-0000-0000-000000000000", syntax.TimeKey(at)).Encode()
	}, true},
	{"market's ledger", func(l *archive, k int) string {
		// A small ledger has 50 markets: another length of the page is another page.
		return fmt.Sprintf("%s/api/m/kalshi-SIZE-%d/signals?limit=%d", l.stack.Hub, pick(k, l.markets), 48+k/scaleMarkets%5)
	}, true},
	{"crowd", func(l *archive, k int) string {
		return fmt.Sprintf("%s/api/m/kalshi-SIZE-%d/crowd", l.stack.Hub, pick(k, l.markets))
	}, false},
	{"board by score", func(l *archive, k int) string {
		return fmt.Sprintf("%s/api/v1/signals/leaderboard?limit=%d", l.stack.API, 200-k%150)
	}, true},
	{"board by edge", func(l *archive, k int) string {
		return fmt.Sprintf("%s/api/v1/signals/leaderboard?order=edge&limit=%d", l.stack.API, 200-k%150)
	}, true},
	{"operator's page", func(l *archive, k int) string { return l.stack.Hub + "/api/operator/" + aHandle(l, k) }, true},
	{"operator's skill", func(l *archive, k int) string { return l.stack.Hub + "/api/operator/" + aHandle(l, k) + "/skill" }, true},
}

// What the small ledger has, and how many pages are asked for in a round.
const (
	scaleOperators = scaleBase / 50
	scaleMarkets   = scaleBase / 200
	doorSamples    = 60
)

// compareDoors asks both products for the same pages in turn.
func (b *bench) compareDoors(ctx context.Context, small, large *archive) error {
	for _, d := range scaleDoors {
		var ours, base [2][]float64
		for round := range b.rounds {
			b.calm(ctx)
			for _, side := range []struct {
				l  *archive
				to *[2][]float64
			}{{small, &base}, {large, &ours}} {
				p50, cpu, err := side.l.knock(ctx, d, round*doorSamples)
				if err != nil {
					return err
				}
				side.to[0], side.to[1] = append(side.to[0], p50), append(side.to[1], cpu)
			}
		}
		target := 0.0
		if d.cold {
			target = 1.6
		}
		if small.away+large.away > 0 {
			b.report.note("%d pages were answered 503 and not counted", small.away+large.away)
			small.away, large.away = 0, 0
		}
		job := fmt.Sprintf("%s at the door, %s / %s, ", d.name, brief(large.size), brief(small.size))
		b.report.ratio(job+"p50", "ms", lower, target, ours[0], base[0])
		b.report.ratio(job+"cpu", "us", lower, 0, ours[1], base[1])
	}
	return nil
}

// knock asks for a stretch of samples, one after the other; the CPU is that of all
// parts of the product.
func (l *archive) knock(ctx context.Context, d door, first int) (p50ms, cpuMicros float64, err error) {
	waits := make([]time.Duration, 0, doorSamples)
	before := l.spent()
	for k := range doorSamples {
		began := time.Now()
		status, _, err := get(ctx, d.path(l, first+k), nil)
		if err == nil && status == http.StatusServiceUnavailable {
			l.away++ // the machine was too busy with other work
			continue
		}
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s was answered %d", d.path(l, first+k), status)
		}
		if err != nil {
			return 0, 0, err
		}
		waits = append(waits, time.Since(began))
	}
	if len(waits) == 0 {
		return 0, 0, fmt.Errorf("%s: every page was answered 503", d.name)
	}
	return float64(quantile(waits, 0.5).Microseconds()) / 1000, micros(l.spent()-before, float64(len(waits))), nil
}

// spent is the CPU time of the product so far.
func (l *archive) spent() time.Duration {
	return treeTime(l.stack.pid("postgres")) + procTime(l.stack.pid("hub"), l.stack.pid("api"), l.stack.pid("redis"))
}
