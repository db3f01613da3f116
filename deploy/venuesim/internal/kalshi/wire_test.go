package kalshi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const base = "/kalshi/trade-api/v2"

type bench struct {
	*simtest.Bench
	venue *kalshi.Service
}

func setup() *bench {
	b := &bench{}
	b.Bench = simtest.New(600, func(w *world.World) http.Handler {
		b.venue = kalshi.New(w)
		return b.venue.Handler()
	})
	return b
}

// ticker is the venue's key of a market.
func (b *bench) ticker(t *testing.T, id int64) string {
	t.Helper()
	m, ok := b.World.Get(id)
	if !ok {
		t.Fatalf("there is no market %d", id)
	}
	return b.venue.Key(&m)
}

func (b *bench) market(t *testing.T, id int64) map[string]any {
	t.Helper()
	return b.Object(t, base+"/markets/"+b.ticker(t, id))["market"].(map[string]any)
}

func micros(p world.Micros) *world.Micros { return &p }

// strikes depend on what a market is about.
var strikes = []string{"floor_strike", "cap_strike", "custom_strike"}

func TestMarketsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	for _, c := range []struct {
		sample string
		change world.Change
	}{
		{"market_open", world.Change{}},
		{"market_initialized", world.Change{State: world.Open, Word: "initialized"}},
		{"market_inactive_paused", world.Change{State: world.Open, Word: "inactive"}},
		{"market_closed_not_resolved", world.Change{State: world.Closed}},
		{"market_provisional_determined_yes", world.Change{State: world.Proposed, Verdict: world.Yes}},
		{"market_provisional_amended_no", world.Change{State: world.Proposed, Verdict: world.No, Word: "amended"}},
		{"market_provisional_disputed", world.Change{State: world.Disputed, Verdict: world.Yes}},
		{"market_resolved_yes", world.Change{State: world.Resolved, Verdict: world.Yes}},
		{"market_resolved_no", world.Change{State: world.Resolved, Verdict: world.No}},
		{"market_resolved_no_result_blank", world.Change{State: world.Resolved, Verdict: world.No, Form: "blank"}},
		{"market_resolved_invalid_scalar_half", world.Change{State: world.Resolved, Verdict: world.Invalid}},
		{"market_resolved_invalid_scalar_fraction", world.Change{State: world.Resolved, Verdict: world.Invalid, Payout: micros(240_000)}},
		{"market_resolved_invalid_void", world.Change{State: world.Resolved, Verdict: world.Invalid, Form: "blank"}},
	} {
		id := b.Create(t, world.Draft{})
		if c.change.State != "" {
			b.Change(t, id, c.change)
		}
		got := map[string]any{"market": b.market(t, id)}
		simtest.SameForm(t, c.sample, got, strikes...)
		want := simtest.Sample(t, c.sample)
		for _, name := range []string{"status", "result", "settlement_value_dollars"} {
			if w, g := simtest.At(want, "market", name), simtest.At(got, "market", name); w != g {
				t.Errorf("%s: %s is %v, want %v", c.sample, name, g, w)
			}
		}
	}
}

func TestABookWithoutOrdersShowsItsEnds(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{})
	m := b.market(t, id)
	if m["yes_bid_dollars"] != "0.6100" || m["yes_ask_dollars"] != "0.6200" || m["no_bid_dollars"] != "0.3800" || m["last_price_dollars"] != "0.6150" {
		t.Errorf("open: %v %v %v %v", m["yes_bid_dollars"], m["yes_ask_dollars"], m["no_bid_dollars"], m["last_price_dollars"])
	}
	b.Change(t, id, world.Change{Price: micros(12_345)})
	if m = b.market(t, id); m["last_price_dollars"] != "0.012345" {
		t.Errorf("six decimals: %v", m["last_price_dollars"])
	}
	b.Change(t, id, world.Change{State: world.Proposed, Verdict: world.No})
	if m = b.market(t, id); m["yes_bid_dollars"] != "0.0000" || m["yes_ask_dollars"] != "1.0000" {
		t.Errorf("determined: %v %v", m["yes_bid_dollars"], m["yes_ask_dollars"])
	}
}

func TestEventsAndSeriesAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	list := b.Object(t, base+"/events?status=open&with_nested_markets=true&limit=200")
	var race, ladder any
	for _, e := range list["events"].([]any) {
		if simtest.At(e, "mutually_exclusive") == true {
			race = e
		} else {
			ladder = e
		}
	}
	envelope := func(e any) any { return map[string]any{"events": []any{e}, "cursor": list["cursor"]} }
	simtest.SameForm(t, "events_page1", envelope(race), "floor_strike", "previous_price_dollars", "expected_expiration_time")
	simtest.SameForm(t, "events_page2_last", envelope(ladder), strikes...)
	key := simtest.At(race, "event_ticker").(string)
	one := b.Object(t, base+"/events/"+key+"?with_nested_markets=true")
	simtest.SameForm(t, "event_single_nested", one)
	if len(one["markets"].([]any)) != 0 || len(simtest.At(one, "event", "markets").([]any)) < 2 {
		t.Error("the markets of the event are not inside it")
	}
	plain := b.Object(t, base+"/events/"+key)
	if simtest.At(plain, "event", "markets") != nil || len(plain["markets"].([]any)) < 2 {
		t.Error("without nesting the markets are not beside the event")
	}
	series := simtest.At(race, "series_ticker").(string)
	got := b.Object(t, base+"/series/"+series)
	if simtest.At(got, "series", "ticker") != series || simtest.At(got, "series", "category") != simtest.At(race, "category") {
		t.Errorf("series: %v", got)
	}
	simtest.SameForm(t, "series_single", got)
}

func TestCandlesAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{Start: simtest.Noon.Add(-90 * 24 * time.Hour), End: simtest.Noon.Add(-65 * 24 * time.Hour)})
	open := b.Create(t, world.Draft{Start: simtest.Noon.Add(-30 * time.Hour)})
	key := b.ticker(t, open)
	window := fmt.Sprintf("start_ts=%d&end_ts=%d&period_interval=60", simtest.Noon.Add(-24*time.Hour).Unix(), simtest.Noon.Unix())
	live := b.Object(t, base+"/series/KXWORLD/markets/"+key+"/candlesticks?"+window)
	simtest.SameForm(t, "candlesticks_live", live)
	if n := len(live["candlesticks"].([]any)); n != 25 {
		t.Errorf("%d candles in a day", n)
	}
	batch := b.Object(t, base+"/markets/candlesticks?market_tickers="+key+",KXNONE-1&"+window)
	simtest.SameForm(t, "candlesticks_batch", batch)
	if len(batch["markets"].([]any)) != 1 {
		t.Error("a market that is not known is in the batch")
	}
	b.Change(t, id, world.Change{State: world.Resolved, Verdict: world.Yes, At: simtest.Noon.Add(-65 * 24 * time.Hour)})
	old := fmt.Sprintf("start_ts=%d&end_ts=%d&period_interval=1440", simtest.Noon.Add(-100*24*time.Hour).Unix(), simtest.Noon.Unix())
	simtest.SameForm(t, "candlesticks_historical", b.Object(t, base+"/historical/markets/"+b.ticker(t, id)+"/candlesticks?"+old))
	fresh := b.ticker(t, b.Create(t, world.Draft{}))
	none := b.Object(t, base+"/series/KXWORLD/markets/"+fresh+"/candlesticks?"+window)
	none["ticker"] = "KXLANTERN-27-AQ"
	simtest.Equal(t, "candlesticks_empty", none)
	simtest.SameForm(t, "historical_cutoff", b.Object(t, base+"/historical/cutoff"))
}

func TestErrorsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	simtest.Equal(t, "error_not_found_404", b.Get(t, base+"/markets/KXNONE-1-1", http.StatusNotFound))
	simtest.Equal(t, "error_bad_request_400", b.Get(t, base+"/markets?status=active", http.StatusBadRequest))
	for _, path := range []string{
		"/events?limit=201", "/events?limit=x", "/events?cursor=%21", "/markets?limit=1001", "/markets?cursor=!", "/markets/candlesticks?start_ts=1&end_ts=2&period_interval=1",
		"/markets/candlesticks?market_tickers=A&start_ts=1&end_ts=2&period_interval=5", "/markets/candlesticks?market_tickers=A&start_ts=3&end_ts=2&period_interval=1",
	} {
		if got := b.Get(t, base+path, http.StatusBadRequest); simtest.At(got, "error", "code") != "invalid_parameters" {
			t.Errorf("%s: %v", path, got)
		}
	}
}
