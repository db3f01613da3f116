package market_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

func TestSweepKeepsEveryOpenMarket(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for i := range 3050 {
		l.venue.list(fmt.Sprint(100000 + i))
	}
	sweep := func() {
		t.Helper()
		if err := l.catalogue.Sweep(t.Context(), syntax.Polymarket, l.venue); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	sweep()
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("a cold start of 3,050 markets took %v", took)
	}
	if n := l.count(`SELECT count(*) FROM api.markets WHERE status = 'open'`); n != 3050 || l.venue.pages != 31 {
		t.Fatalf("kept %d markets from %d pages", n, l.venue.pages)
	}
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("asked one by one for %v", asked)
	}
	// Two close and one vanishes: the next sweep asks for them by id.
	l.clock.Advance(8 * time.Minute)
	l.venue.set(func() {
		l.venue.open["100000"], l.venue.open["100001"] = false, false
		delete(l.venue.open, "100002")
	})
	sweep()
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []syntax.MarketID{"100000", "100001", "100002"}) {
		t.Errorf("asked one by one for %v", asked)
	}
	if n := l.count(`SELECT count(*) FROM api.markets WHERE status = 'closed'`); n != 2 {
		t.Errorf("%d markets closed", n)
	}
	sweep()
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("what a venue does not know does not rest: %v", asked)
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices`); n != 3050 {
		t.Errorf("%d snapshots within a quarter of an hour", n)
	}
}

func TestASweepEndsWhateverTheVenueSays(t *testing.T) {
	t.Parallel()
	l := setup(t)
	v := endless{l.venue}
	if err := l.catalogue.Sweep(t.Context(), syntax.Polymarket, v); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true })
	if err := l.catalogue.Sweep(t.Context(), syntax.Polymarket, l.venue); err == nil {
		t.Error("a sweep of a venue that is down says nothing")
	}
}

// endless repeats its cursor for ever.
type endless struct{ *venue }

func (endless) ListOpen(context.Context, string) ([]market.Record, string, error) {
	return nil, "again", nil
}

func TestHotMarketsArePricedEachMinute(t *testing.T) {
	t.Parallel()
	l := setup(t)
	ids := make([]string, 60)
	for i := range ids {
		ids[i] = fmt.Sprint(200 + i)
	}
	l.venue.list(ids...)
	l.venue.set(func() {
		l.venue.respond = func(r *market.Record) { // by number, all in one lane
			var n int
			_, _ = fmt.Sscan(string(r.ID), &n)
			end := noon.Add(time.Duration(n) * time.Hour)
			r.EndDate = &end
		}
	})
	if err := l.catalogue.Sweep(t.Context(), syntax.Polymarket, l.venue); err != nil {
		t.Fatal(err)
	}
	l.call("250")
	l.call("251")
	l.call("259")
	refresh := func() {
		t.Helper()
		if err := l.catalogue.RefreshHot(t.Context(), syntax.Polymarket, l.venue); err != nil {
			t.Fatal(err)
		}
	}
	priced := func() int {
		return l.count(`SELECT count(*) FROM api.market_quotes WHERE yes_bps = 4200`)
	}
	l.venue.set(func() { l.venue.yes = 4200 })
	refresh()
	if l.venue.quotes != 0 || priced() != 0 {
		t.Error("fresh markets were priced again")
	}
	l.clock.Advance(50 * time.Second)
	l.venue.set(func() { l.venue.open["251"] = false; delete(l.venue.open, "259") })
	refresh()
	// The 24 that end first are next on the clock, and the ones with calls.
	if n := priced(); l.venue.quotes != 1 || n != 24+2 {
		t.Errorf("%d markets priced in %d calls", n, l.venue.quotes)
	}
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []syntax.MarketID{"251", "259"}) {
		t.Errorf("asked one by one for %v", asked)
	}
	if m := l.get("251"); m.Status != syntax.MarketClosed {
		t.Errorf("a market that closed reads %s", m.Status)
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices WHERE yes_bps = 4200`); n != 25 {
		t.Errorf("%d snapshots, want one of each open hot market", n)
	}
	// What has no answer rests for five minutes, and comes back then.
	l.clock.Advance(time.Minute)
	refresh()
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("asked again at once for %v", asked)
	}
	l.clock.Advance(5 * time.Minute)
	refresh()
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []syntax.MarketID{"259"}) {
		t.Errorf("after a rest asked for %v", asked)
	}
}

func TestAnotherReplicaTakesTheCatalogueOver(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("1", "2")
	_, _, second := l.replica()
	var running, most atomic.Int32
	lead := func(c *market.Catalogue) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			pg.Leader(ctx, l.rw, 77, func(ctx context.Context) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return c.Run(ctx)
			})
		}()
		return func() { cancel(); <-done }
	}
	stopFirst := lead(l.catalogue)
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 2 })
	stopSecond := lead(second)
	stopFirst()
	l.venue.list("3")
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 3 })
	stopSecond()
	if most.Load() != 1 {
		t.Errorf("%d replicas ran the catalogue at once", most.Load())
	}
}
