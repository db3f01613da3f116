package postgres

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// facts returns the result of ListFacts at the present time of the test clock, by market id.
func (b *bundle) facts() map[string]attention.Fact {
	b.t.Helper()
	list := must(b.ListFacts(b.t.Context(), b.clock.Now()))(b.t)
	out := make(map[string]attention.Fact, len(list))
	for _, f := range list {
		if _, twice := out[string(f.ID)]; twice {
			b.t.Errorf("%s is listed twice", f.ID)
		}
		out[string(f.ID)] = f
	}
	return out
}

// snapshots stores prices of a market. Each key is the age of the price, counted back from the test clock.
func (b *bundle) snapshots(id string, prices map[time.Duration]int) {
	b.t.Helper()
	for before, yes := range prices {
		b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, id, b.clock.Now().Add(-before), yes)
	}
}

func froms(f attention.Fact) string {
	out := ""
	for _, p := range f.From {
		if p == nil {
			out += "- "
			continue
		}
		out += fmt.Sprint(*p, " ")
	}
	return out
}

func TestFactsOfOpenMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := b.operators(3)
	long := func(r *market.Record) { end := noon.Add(400 * time.Hour); r.EndDate = &end }
	b.apply(true,
		b.answer("1", 3000, long, func(r *market.Record) {
			v := 9100.0
			r.Title, r.Slug, r.EventKey, r.EventTitle, r.ImageURL, r.Volume24h = "Gauge above 6 m?", "gauge", "flood", "River levels", "https://i.example", &v
		}),
		b.answer("2", 3000, long, closed(false)),
		b.answer("3", 3000, long, func(r *market.Record) { r.Outcomes, r.YesIndex = []string{"Over", "Under"}, 1 }),
		b.answer("kalshi-x", 3000, long, func(r *market.Record) {
			v := 50.0
			r.VolumeUnit, r.VolumeUSD, r.Volume24h = "contracts", nil, &v
		}),
		b.answer("manifold-y", 3000, long, func(r *market.Record) {
			total, usd, day := 50_000.0, 500.0, 1000.0
			r.VolumeUnit, r.Volume, r.VolumeUSD, r.Volume24h = "mana", &total, &usd, &day
		}),
		b.answer("5", 3000, long, func(r *market.Record) { r.Outcomes = nil }))
	b.nativeMarket("native-aaaaaaaaaaaa", 2000)
	b.nativeMarket("native-bbbbbbbbbbbb", 5000)
	b.exec(`UPDATE api.markets SET end_date = $1 WHERE market_id = 'native-bbbbbbbbbbbb'`, noon.Add(24*time.Hour))
	b.exec(`UPDATE api.markets SET end_date = $1 WHERE market_id = 'native-aaaaaaaaaaaa'`, noon.Add(99*time.Hour))
	b.exec(`UPDATE api.markets SET disputed = true WHERE market_id = '5'`)
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, created_at, updated_at) VALUES ('6', 'polymarket', 'x', 'open', $1, $1), ('7', 'polymarket', 'x', 'unknown', $1, $1)`, noon)
	early := b.file(keys[0], "1", protocol.Yes, 3000)
	b.clock.Advance(24 * time.Hour)
	id := b.file(keys[1], "1", protocol.No, 7000)
	b.file(keys[2], "native-aaaaaaaaaaaa", protocol.Yes, 2000)
	for i, at := range []time.Duration{0, time.Millisecond, time.Hour} {
		b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, $3, '{}', $2)`, early, noon.Add(at), []string{"take", "take", "note"}[i])
	}
	b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'take', '{}', $2)`, id, b.clock.Now())
	facts := b.facts()
	if len(facts) != 7 || facts["2"].ID != "" || facts["7"].ID != "" || facts["native-bbbbbbbbbbbb"].ID != "" {
		t.Fatalf("%d facts: %v", len(facts), facts)
	}
	f := facts["1"]
	if f.Provider != protocol.Polymarket || f.Title != "Gauge above 6 m?" || f.Slug != "gauge" || f.EventKey != "flood" || f.EventTitle != "River levels" ||
		f.ImageURL != "https://i.example" || f.Lane != protocol.LaneScience || f.Outcome != "Yes" || !f.Callable || f.EndDate == nil || *f.Yes != 3000 || !f.PricedAt.Equal(noon) ||
		*f.Volume != 5000 || *f.Volume24h != 9100 || f.Signals != 2 || f.Signals24h != 1 || f.Takes24h != 2 {
		t.Errorf("facts of market 1: %+v", f)
	}
	if f := facts["3"]; f.Outcome != "Under" {
		t.Errorf("YES of two labels: %q", f.Outcome)
	}
	if f := facts["kalshi-x"]; f.Volume != nil || f.Volume24h != nil {
		t.Errorf("a volume in contracts was read as USD: %v %v", f.Volume, f.Volume24h)
	}
	if f := facts["manifold-y"]; f.Volume24h == nil || *f.Volume24h != 10 {
		t.Errorf("the volume of a day is %v in USD, want 10", f.Volume24h)
	}
	if f := facts["5"]; f.Callable || f.Outcome != "Yes" {
		t.Errorf("disputed market: %+v", f)
	}
	if f := facts["6"]; f.Yes != nil || !f.PricedAt.IsZero() || f.Volume != nil || f.Signals != 0 {
		t.Errorf("market without a quote: %+v", f)
	}
	// A native market always has a price from its crowd. The values are the test vector of the protocol.
	if f := facts["native-aaaaaaaaaaaa"]; *f.Yes != 2889 || !f.PricedAt.Equal(b.clock.Now()) || froms(f) != "- - - 2000 " || f.Signals24h != 1 {
		t.Errorf("native market: %+v %s", f, froms(f))
	}
}

// TestStartsOfWindows checks which stored price is the price at the start of a window. It is the newest snapshot at or
// before the start, or else the oldest snapshot in the window that covers at least half of the window.
func TestStartsOfWindows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		prices map[time.Duration]int
		want   string // 15m, 1h, 6h, 24h
	}{
		{map[time.Duration]int{15 * time.Minute: 1, time.Hour: 2, 6 * time.Hour: 3, 24 * time.Hour: 4}, "1 2 3 4 "},
		{map[time.Duration]int{15*time.Minute - 1e6: 1, time.Hour - 1e6: 2, 6*time.Hour - 1e6: 3, 24*time.Hour - 1e6: 4}, "2 3 4 4 "},
		{map[time.Duration]int{30 * time.Minute: 1, 28 * time.Hour: 4}, "1 4 4 4 "},     // gaps
		{map[time.Duration]int{29 * 24 * time.Hour: 9}, "9 9 9 9 "},                     // one old snapshot
		{map[time.Duration]int{7*time.Minute + 30*time.Second: 1}, "1 - - - "},          // half of 15 minutes
		{map[time.Duration]int{7*time.Minute + 29*time.Second: 1}, "- - - - "},          // less than half of 15 minutes
		{map[time.Duration]int{30 * time.Minute: 1}, "1 1 - - "},                        // half of an hour
		{map[time.Duration]int{3*time.Hour - 1e6: 1, 29 * time.Minute: 2}, "2 1 - - "},  // less than half of six hours
		{map[time.Duration]int{3 * time.Hour: 1, 2 * time.Hour: 2}, "2 2 1 - "},         // half of six hours: the oldest snapshot
		{map[time.Duration]int{12 * time.Hour: 1, 11 * time.Hour: 2, 0: 5}, "2 2 2 1 "}, // half of a day
		{map[time.Duration]int{14 * time.Minute: 1, 8 * time.Minute: 2}, "1 - - - "},    // the oldest snapshot in the window
		{map[time.Duration]int{time.Minute: 1, 0: 2}, "- - - - "},
		{nil, "- - - - "},
	} {
		id := fmt.Sprint(i + 1)
		b.apply(false, b.answer(id, 3000))
		b.exec(`DELETE FROM api.market_prices WHERE market_id = $1`, id)
		b.snapshots(id, c.prices)
		if got := froms(b.facts()[id]); got != c.want {
			t.Errorf("%v: %s, want %s", c.prices, got, c.want)
		}
	}
}

// TestWindowPricesAreReadSelectively checks that prices at the start of windows are read only for markets that can be listed
// as moving.
func TestWindowPricesAreReadSelectively(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		sql, want string
	}{
		{`UPDATE api.market_quotes SET volume_usd = 1000 WHERE market_id = $1`, "1 1 1 1 "},
		{`UPDATE api.market_quotes SET volume_usd = 999.9 WHERE market_id = $1`, "- - - 1 "},
		{`UPDATE api.market_quotes SET volume_usd = NULL WHERE market_id = $1`, "- - - 1 "},
		{`UPDATE api.market_quotes SET yes_bps = NULL WHERE market_id = $1`, "- - - - "},
		{`UPDATE api.market_quotes SET at = at - interval '10 minutes' WHERE market_id = $1`, "1 1 1 1 "},
		{`UPDATE api.market_quotes SET at = at - interval '10 minutes 1 second' WHERE market_id = $1`, "- - - - "},
	} {
		id := fmt.Sprint(i + 1)
		b.apply(true, b.answer(id, 3000))
		b.snapshots(id, map[time.Duration]int{48 * time.Hour: 1})
		b.exec(c.sql, id)
		if got := froms(b.facts()[id]); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestStartsEqualTheDefinition compares the prices that ListFacts returns for the starts of windows with a computation in
// Go, for random snapshots.
func TestStartsEqualTheDefinition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := rand.New(rand.NewPCG(1, 2))
	type point struct {
		before time.Duration
		yes    int
	}
	all := make(map[string][]point)
	for i := range 60 {
		id := fmt.Sprint(i + 1)
		b.apply(false, b.answer(id, 3000))
		b.exec(`DELETE FROM api.market_prices WHERE market_id = $1`, id)
		prices := make(map[time.Duration]int)
		for range r.IntN(12) {
			span := []time.Duration{20 * time.Minute, 2 * time.Hour, 9 * time.Hour, 60 * time.Hour}[r.IntN(4)]
			prices[time.Duration(r.Int64N(int64(span/time.Second)))*time.Second] = r.IntN(10_001)
		}
		b.snapshots(id, prices)
		for before, yes := range prices {
			all[id] = append(all[id], point{before, yes})
		}
	}
	for id, f := range b.facts() {
		want := ""
		for _, w := range protocol.Windows {
			var newest, oldest *point // at or before the start, and in the window
			for _, p := range all[id] {
				switch {
				case p.before >= w.Duration():
					if newest == nil || p.before < newest.before {
						newest = &p
					}
				case p.before >= w.Duration()/2:
					if oldest == nil || p.before > oldest.before {
						oldest = &p
					}
				}
			}
			switch {
			case newest != nil:
				want += fmt.Sprint(newest.yes, " ")
			case oldest != nil:
				want += fmt.Sprint(oldest.yes, " ")
			default:
				want += "- "
			}
		}
		if got := froms(f); got != want {
			t.Errorf("%v: %s, want %s", all[id], got, want)
		}
	}
}

// TestTilesOfTheCatalogue checks the heatmap that the service computes from stored markets.
func TestTilesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := b.operators(2)
	open := func(id, event string, volume float64, hours int, change ...func(*market.Record)) market.Record {
		return b.answer(id, 3000, append(change, func(r *market.Record) {
			end := noon.Add(24*time.Hour + time.Duration(hours)*time.Hour)
			r.EventKey, r.EventTitle, r.Volume24h, r.EndDate, r.Slug = event, "River levels", &volume, &end, "m"+id
		})...)
	}
	b.apply(true, open("1", "flood", 100, 400), open("2", "flood", 900, 12), open("3", "", 50, 400), open("4", "flood", 5, -1),
		open("5", "shut", 70, 12, closed(false)), open("6", "flood", 1, 24))
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	b.clock.Advance(24 * time.Hour)
	now := b.clock.Now()
	b.apply(true, b.answer("2", 4500, func(r *market.Record) {
		v, end := 900.0, now.Add(12*time.Hour)
		r.EventKey, r.EventTitle, r.Volume24h, r.EndDate, r.Slug = "flood", "River levels", &v, &end, "m2"
	}))
	id := b.file(keys[0], "2", protocol.Yes, 4500)
	b.file(keys[1], "1", protocol.Yes, 3000)
	b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'take', '{}', $2)`, id, now)
	s := attention.NewService(b.Store, b.clock.Now)
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, _, err := s.Tiles(t.Context(), false, nil)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d tiles, %v", len(list), err)
	}
	// A market after its end date is neither counted nor shown.
	if m := list[0]; m.ID != "2" || m.Markets != 3 || m.Total24h != 1001 || m.Signals24h != 1 || m.Takes24h != 1 || m.Move == nil || *m.Move != 1500 || *m.Volume24h != 900 || m.Attention != 33 {
		t.Errorf("tile of the event: %+v, move %v, attention %d", m.Fact, m.Move, m.Attention)
	}
	if m := list[1]; m.ID != "3" || m.Markets != 1 || m.Signals24h != 0 || m.Yes != nil || m.Key(false) != "m3" {
		t.Errorf("tile of the market without an event: %+v", m)
	}
	list, _, err = s.Tiles(t.Context(), true, nil)
	if err != nil || len(list) != 2 || list[0].ID != "2" || list[0].Markets != 1 || list[0].Total24h != 900 || list[1].ID != "6" {
		t.Errorf("tiles of markets that end soon: %+v, %v", list, err)
	}
}
