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

func TestSweepStoresEveryOpenMarket(t *testing.T) {
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
		t.Errorf("a cold start with 3,050 markets took %v", took)
	}
	if n := l.count(`SELECT count(*) FROM api.markets WHERE status = 'open'`); n != 3050 || l.venue.pages != 31 {
		t.Fatalf("stored %d open markets from %d pages; want 3050 from 31", n, l.venue.pages)
	}
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("markets read individually: %v", asked)
	}
	// Two markets close and one disappears. The next sweep reads them by id.
	l.clock.Advance(8 * time.Minute)
	l.venue.set(func() {
		l.venue.open["100000"], l.venue.open["100001"] = false, false
		delete(l.venue.open, "100002")
	})
	sweep()
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"100000", "100001", "100002"}) {
		t.Errorf("markets read individually: %v", asked)
	}
	if n := l.count(`SELECT count(*) FROM api.markets WHERE status = 'closed'`); n != 2 {
		t.Errorf("%d markets are closed; want 2", n)
	}
	sweep()
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("markets without an answer were requested again within the pause: %v", asked)
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices`); n != 3050 {
		t.Errorf("%d snapshots within 15 minutes; want 3050", n)
	}
}

func TestSweepEnds(t *testing.T) {
	t.Parallel()
	l := setup(t)
	v := endless{l.venue}
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, v); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true })
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.venue); err == nil {
		t.Error("a sweep of an unavailable venue returned no error")
	}
}

// endless is a venue whose list of open markets never ends, because it returns the same cursor forever.
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
		l.venue.respond = func(r *market.Record) { // the price follows from the id; all markets are in one lane
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
		t.Error("markets with a fresh price were priced again")
	}
	l.clock.Advance(50 * time.Second)
	l.venue.set(func() { l.venue.open["251"] = false; delete(l.venue.open, "259") })
	refresh()
	// The 24 markets that end first are in the programme. The other two have calls.
	if n := priced(); l.venue.quotes != 1 || n != 24+2 {
		t.Errorf("%d markets priced in %d requests; want 26 in 1", n, l.venue.quotes)
	}
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"251", "259"}) {
		t.Errorf("markets read individually: %v", asked)
	}
	if m := l.get("251"); m.Status != protocol.MarketClosed {
		t.Errorf("a closed market has the status %s", m.Status)
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices WHERE yes_bps = 4200`); n != 25 {
		t.Errorf("%d snapshots; want one of each open hot market, 25", n)
	}
	// A market without an answer for a minute is paused for five minutes and then requested again.
	for _, step := range []struct {
		after time.Duration
		want  []protocol.MarketID
	}{{time.Minute, []protocol.MarketID{"259"}}, {time.Minute, nil}, {5 * time.Minute, []protocol.MarketID{"259"}}} {
		l.clock.Advance(step.after)
		refresh()
		if asked := l.venue.takeAsked(); !slices.Equal(asked, step.want) {
			t.Errorf("%v later: requested %v; want %v", step.after, asked, step.want)
		}
	}
}

// TestStubsDoNotStarveTheOthers files calls on market ids that do not exist while the venue is unavailable. After that, the
// price of every open market with calls must be at most a minute old.
func TestStubsDoNotStarveTheOthers(t *testing.T) {
	t.Parallel()
	l := setup(t)
	var ids []string
	for i := range 520 { // more than one refresh reads
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
	for i := range 500 { // their ids also sort first
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
			t.Fatalf("the price of %d open markets with calls is older than a minute", n)
		}
		asked := l.venue.takeAsked()
		for _, id := range asked {
			stubs[id] = true
		}
		if len(asked) > 20 {
			t.Fatalf("%d markets read individually in one round", len(asked))
		}
	}
	if len(stubs) != 500 {
		t.Errorf("%d of 500 stubs were requested", len(stubs))
	}
}

// TestBusyMarketIsNotPaused checks that a market is requested in the next round if the request limit prevented its request.
func TestBusyMarketIsNotPaused(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	l.get("7")
	l.call("7")
	l.clock.Advance(2 * time.Minute)
	l.venue.takeAsked()
	l.venue.set(func() { l.venue.open["7"] = false; l.venue.busy = true })
	if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); !errors.Is(err, market.ErrBusy) {
		t.Errorf("a round without free requests: %v", err)
	}
	l.venue.set(func() { l.venue.busy = false })
	l.clock.Advance(10 * time.Second)
	if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.venue); err != nil {
		t.Error(err)
	}
	if asked := l.venue.takeAsked(); !slices.Equal(asked, []protocol.MarketID{"7"}) {
		t.Errorf("requested %v", asked)
	}
}

// TestDroppedMarketsDoNotStarveTheMissed checks that markets which a venue no longer returns do not prevent reads of the
// markets that the venue has closed.
func TestDroppedMarketsDoNotStarveTheMissed(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for i := range 310 { // more than are read individually after one sweep
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
		t.Errorf("the closed market has the status %s", m.Status)
	}
}

func TestAnotherReplicaTakesOverTheCatalogue(t *testing.T) {
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
			lease.Lead(ctx, l.rw, "venues", 77, func(ctx context.Context) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return c.Run(ctx)
			})
		}()
		return func() { cancel(); <-done }
	}
	stopFirst := lead(l.catalogue)
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 2 })
	l.venue.list("3") // listed before the second replica leads, because it sweeps at once and then only after minutes
	stopSecond := lead(second)
	stopFirst()
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets`) == 3 })
	stopSecond()
	if most.Load() != 1 {
		t.Errorf("%d replicas ran the catalogue at the same time", most.Load())
	}
}
