package market_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/protocol"
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
		if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err != nil {
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
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"100000", "100001", "100002"}) {
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
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, v); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true })
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err == nil {
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
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err != nil {
		t.Fatal(err)
	}
	l.call("250")
	l.call("251")
	l.call("259")
	refresh := func() {
		t.Helper()
		if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); err != nil {
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
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"251", "259"}) {
		t.Errorf("asked one by one for %v", asked)
	}
	if m := l.get("251"); m.Status != protocol.MarketClosed {
		t.Errorf("a market that closed reads %s", m.Status)
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices WHERE yes_bps = 4200`); n != 25 {
		t.Errorf("%d snapshots, want one of each open hot market", n)
	}
	// What has had no answer for a minute rests for five, and comes back then.
	for _, step := range []struct {
		after time.Duration
		want  []protocol.MarketID
	}{{time.Minute, []protocol.MarketID{"259"}}, {time.Minute, nil}, {5 * time.Minute, []protocol.MarketID{"259"}}} {
		l.clock.Advance(step.after)
		refresh()
		if asked := l.venue.takeAsked(); !slices.Equal(asked, step.want) {
			t.Errorf("%v later asked for %v, want %v", step.after, asked, step.want)
		}
	}
}

// Calls on markets that no venue knows, made while it was away, do not cost the
// others their price: no open market with calls is older than a minute.
func TestStubsDoNotStarveTheOthers(t *testing.T) {
	t.Parallel()
	l := setup(t)
	var ids []string
	for i := range 520 { // more than one round prices
		ids = append(ids, fmt.Sprint(3000+i))
	}
	l.venue.list(ids...)
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		l.call(id)
	}
	l.venue.set(func() { l.venue.down = true })
	for i := range 500 { // their ids come first by name, too
		id := fmt.Sprint(1000 + i)
		if err := l.Ensure(t.Context(), protocol.MarketID(id), uuid.NewString(), time.Second); err != nil {
			t.Fatal(err)
		}
		l.call(id)
	}
	l.venue.set(func() { l.venue.down = false })
	stubs := map[protocol.MarketID]bool{}
	for range 40 { // rounds of ten seconds
		l.clock.Advance(10 * time.Second)
		l.venue.takeAsked()
		if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); err != nil {
			t.Fatal(err)
		}
		if n := l.count(`SELECT count(*) FROM api.markets m JOIN api.market_quotes q USING (market_id)
			WHERE m.status = 'open' AND q.at < $1`, l.clock.Now().Add(-time.Minute)); n != 0 {
			t.Fatalf("%d open markets with calls are older than a minute", n)
		}
		asked := l.venue.takeAsked()
		for _, id := range asked {
			stubs[id] = true
		}
		if len(asked) > 20 {
			t.Fatalf("%d markets read one by one in one round", len(asked))
		}
	}
	if len(stubs) != 500 {
		t.Errorf("of 500 stubs %d were asked for", len(stubs))
	}
}

// A market that was not asked for because we may not ask more does not rest.
func TestOurOwnLimitIsNoRest(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	l.get("7")
	l.call("7")
	l.clock.Advance(2 * time.Minute)
	l.venue.takeAsked()
	l.venue.set(func() { l.venue.open["7"] = false; l.venue.busy = true })
	if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); !errors.Is(err, market.ErrBusy) {
		t.Errorf("a round that could not ask: %v", err)
	}
	l.venue.set(func() { l.venue.busy = false })
	l.clock.Advance(10 * time.Second)
	if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); err != nil {
		t.Error(err)
	}
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"7"}) {
		t.Errorf("asked for %v", asked)
	}
}

// What a venue has dropped without a word does not keep the markets that it
// closed from being read.
func TestDroppedMarketsDoNotStarveTheMissed(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for i := range 310 { // more than one sweep reads one by one
		l.venue.list(fmt.Sprint(1000 + i))
	}
	l.venue.list("9000")
	sweep := func() {
		t.Helper()
		if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	l.venue.set(func() {
		clear(l.venue.open)
		l.venue.open["9000"] = false
	})
	for range 2 {
		l.clock.Advance(8 * time.Minute)
		sweep()
	}
	if m := l.get("9000"); m.Status != protocol.MarketClosed {
		t.Errorf("the market that closed reads %s", m.Status)
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
			lease.Lead(ctx, l.rw, 77, func(ctx context.Context) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return c.Run(ctx)
			})
		}()
		return func() { cancel(); <-done }
	}
	stopFirst := lead(l.catalogue)
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 2 })
	l.venue.list("3") // before the second begins, which sweeps at once and then not for minutes
	stopSecond := lead(second)
	stopFirst()
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 3 })
	stopSecond()
	if most.Load() != 1 {
		t.Errorf("%d replicas ran the catalogue at once", most.Load())
	}
}
