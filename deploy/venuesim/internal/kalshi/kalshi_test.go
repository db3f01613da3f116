package kalshi_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// walk reads a list to its end and gives the keys in it.
func (b *bench) walk(t *testing.T, path, list, key string) (keys []string, pages int) {
	t.Helper()
	seen := map[string]bool{}
	for cursor := ""; ; {
		v := b.Object(t, base+path+"&cursor="+url.QueryEscape(cursor))
		for _, row := range v[list].([]any) {
			k := simtest.At(row, key).(string)
			if seen[k] {
				t.Fatalf("%s twice", k)
			}
			seen[k] = true
			keys = append(keys, k)
		}
		if pages++; pages > 1000 {
			t.Fatal("the walk does not end")
		}
		if cursor = v["cursor"].(string); cursor == "" {
			return keys, pages
		}
	}
}

func TestTheWalkAlongEventsEndsAndHasEveryOpenMarket(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{EventTitle: "Lamps"})
	other := b.Create(t, world.Draft{EventTitle: "Lamps"})
	events, pages := b.walk(t, "/events?status=open&limit=50", "events", "event_ticker")
	if pages != (len(events)+49)/50 {
		t.Errorf("%d events on %d pages", len(events), pages)
	}
	inside := map[string]bool{}
	for _, e := range events {
		for _, m := range simtest.At(b.Object(t, base+"/events/"+e+"?with_nested_markets=true"), "event", "markets").([]any) {
			inside[simtest.At(m, "ticker").(string)] = true
		}
	}
	markets, _ := b.walk(t, "/markets?status=open&limit=100&mve_filter=exclude", "markets", "ticker")
	for _, key := range markets {
		if !inside[key] {
			t.Errorf("open market %s is in no open event", key)
		}
	}
	if len(markets) < 500 {
		t.Errorf("%d open markets", len(markets))
	}
	if a, z := b.ticker(t, id), b.ticker(t, other); !inside[a] || !inside[z] || simtest.At(b.market(t, id), "event_ticker") != simtest.At(b.market(t, other), "event_ticker") {
		t.Errorf("markets created for one event are not in one: %s %s", a, z)
	}
}

func TestCombinationsAreInTheListOfMarketsOnly(t *testing.T) {
	t.Parallel()
	b := setup()
	all, _ := b.walk(t, "/markets?status=open&limit=1000", "markets", "ticker")
	plain, _ := b.walk(t, "/markets?status=open&limit=1000&mve_filter=exclude", "markets", "ticker")
	var combos []string
	for _, key := range all {
		if strings.HasPrefix(key, "KXMVE") {
			combos = append(combos, key)
		}
	}
	if len(combos) == 0 || len(all)-len(combos) != len(plain) {
		t.Fatalf("%d in all, %d combinations, %d without", len(all), len(combos), len(plain))
	}
	simtest.SameForm(t, "market_combo_to_skip", b.Object(t, base+"/markets/"+combos[0]))
	if got, _ := b.walk(t, "/markets?tickers="+combos[0]+","+plain[0]+",KXNONE-1", "markets", "ticker"); len(got) != 2 {
		t.Errorf("by tickers: %v", got)
	}
}

func TestTheFilterWordsAreNotTheFieldWords(t *testing.T) {
	t.Parallel()
	b := setup()
	fields := map[string]bool{}
	for query, allowed := range map[string]string{
		"unopened": "initialized", "open": "active", "paused": "inactive", "closed": "closed determined disputed amended", "settled": "finalized",
	} {
		v := b.Object(t, base+"/markets?limit=1000&mve_filter=exclude&status="+query)
		for _, m := range v["markets"].([]any) {
			word := simtest.At(m, "status").(string)
			fields[word] = true
			if !slices.Contains(strings.Fields(allowed), word) {
				t.Errorf("%s gives a market that is %s", query, word)
			}
		}
	}
	for _, word := range []string{"initialized", "active", "inactive", "finalized"} {
		if !fields[word] {
			t.Errorf("no market is %s", word)
		}
	}
}

func TestASettledMarketMovesToTheArchive(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{Start: simtest.Noon.Add(-90 * 24 * time.Hour)})
	key := b.ticker(t, id)
	b.Get(t, base+"/historical/markets/"+key, http.StatusNotFound)
	b.Change(t, id, world.Change{State: world.Resolved, Verdict: world.No, At: simtest.Noon.Add(-59 * 24 * time.Hour)})
	b.Get(t, base+"/markets/"+key, http.StatusOK)
	b.Get(t, base+"/historical/markets/"+key, http.StatusNotFound)
	b.Pass(3 * 24 * time.Hour)
	b.Get(t, base+"/markets/"+key, http.StatusNotFound)
	window := "start_ts=1&end_ts=2000000000&period_interval=1440"
	b.Get(t, base+"/series/KXWORLD/markets/"+key+"/candlesticks?"+window, http.StatusNotFound)
	if got := b.Object(t, base+"/historical/markets/"+key); simtest.At(got, "market", "result") != "no" {
		t.Errorf("archive: %v", got)
	}
	b.Get(t, base+"/historical/markets/"+key+"/candlesticks?"+window, http.StatusOK)
	if got, _ := b.walk(t, "/markets?tickers="+key, "markets", "ticker"); len(got) != 0 {
		t.Errorf("live list: %v", got)
	}
}

func TestAnEarlyEndMovesTheCloseTimeBack(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{})
	planned := b.market(t, id)["close_time"]
	b.Pass(time.Hour)
	b.Change(t, id, world.Change{State: world.Closed})
	if got := b.market(t, id)["close_time"]; got != "2026-10-10T13:00:00Z" {
		t.Errorf("closed early: %v", got)
	}
	b.Change(t, id, world.Change{State: world.Open})
	if got := b.market(t, id); got["close_time"] != planned || got["status"] != "active" {
		t.Errorf("opened again: %v %v", got["close_time"], got["status"])
	}
}

func TestTickersHaveOneSpelling(t *testing.T) {
	t.Parallel()
	b := setup()
	key := b.ticker(t, b.Create(t, world.Draft{}))
	for _, path := range []string{
		"/markets/" + strings.ToLower(key), "/markets/KXOTHER" + key[strings.IndexByte(key, '-'):], "/markets/X", "/events/" + key + "-1", "/events/KXNONE-1",
		"/series/KXNONE", "/series/KXNONE/markets/" + key + "/candlesticks?start_ts=1&end_ts=2&period_interval=1", "/nothing", "/historical/markets/" + key,
	} {
		if got := b.Get(t, base+path, http.StatusNotFound); simtest.At(got, "error", "code") != "not_found" {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestManyReadersAndWriters(t *testing.T) {
	t.Parallel()
	b := setup()
	key := b.ticker(t, b.Create(t, world.Draft{}))
	b.Rush(t, base+"/events?status=open&with_nested_markets=true&limit=10", base+"/markets?limit=20", base+"/markets/"+key)
}
