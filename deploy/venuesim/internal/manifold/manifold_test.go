package manifold_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/manifold"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const base = "/manifold/v0"

const listing = base + "/search-markets?term=&filter=open&contractType=BINARY&sort=newest"

type bench struct {
	*simtest.Bench
	venue *manifold.Service
}

func setup() *bench {
	b := &bench{}
	b.Bench = simtest.New(1200, func(w *world.World) http.Handler {
		b.venue = manifold.New(w)
		return b.venue.Handler()
	})
	return b
}

// contract is the venue's key of a market.
func (b *bench) contract(t *testing.T, id int64) string {
	t.Helper()
	m, ok := b.World.Get(id)
	if !ok {
		t.Fatalf("there is no market %d", id)
	}
	return b.venue.Key(&m)
}

func (b *bench) market(t *testing.T, id int64) map[string]any {
	t.Helper()
	return b.Object(t, base+"/market/"+b.contract(t, id))
}

func TestMarketsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	third := world.Micros(370_000)
	for _, c := range []struct {
		sample string
		change world.Change
	}{
		{"market_open_binary", world.Change{}},
		{"market_closed_not_resolved", world.Change{State: world.Closed}},
		{"market_provisional_just_resolved", world.Change{State: world.Proposed, Verdict: world.Yes}},
		{"market_resolved_yes", world.Change{State: world.Resolved, Verdict: world.Yes}},
		{"market_resolved_no", world.Change{State: world.Resolved, Verdict: world.No}},
		{"market_resolved_invalid_mkt", world.Change{State: world.Resolved, Verdict: world.Invalid, Payout: &third}},
		{"market_resolved_invalid_cancel", world.Change{State: world.Resolved, Verdict: world.Invalid}},
	} {
		id := b.Create(t, world.Draft{})
		if c.change.State != "" {
			b.Change(t, id, c.change)
		}
		got, want := b.market(t, id), simtest.Sample(t, c.sample).(map[string]any)
		simtest.SameForm(t, c.sample, got, "resolverId")
		for _, name := range []string{"isResolved", "resolution", "outcomeType", "mechanism", "token"} {
			if got[name] != want[name] {
				t.Errorf("%s: %s is %v, want %v", c.sample, name, got[name], want[name])
			}
		}
		if c.change.Payout != nil && got["resolutionProbability"] != 0.37 {
			t.Errorf("%s: %v", c.sample, got["resolutionProbability"])
		}
	}
	polls := b.List(t, base+"/search-markets?contractType=POLL&limit=1")
	simtest.SameForm(t, "market_poll", b.Object(t, base+"/market/"+simtest.At(polls, "id").(string)))
}

func TestTheSearchIsWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	b.Create(t, world.Draft{})
	simtest.SameForm(t, "search_markets_open_binary", b.List(t, listing+"&limit=2"))
	simtest.Equal(t, "search_markets_empty", b.List(t, base+"/search-markets?term=nobodyaskedthis"))
	if got := b.List(t, base+"/search-markets?term=LIGHTHOUSE+lit"); len(got) != 1 {
		t.Errorf("by words: %d", len(got))
	}
}

// TestTheWalkByTimeEnds goes back in time from page to page, as a reader has to.
func TestTheWalkByTimeEnds(t *testing.T) {
	t.Parallel()
	b := setup()
	seen, pages := map[any]bool{}, 0
	for before := int64(1) << 60; ; pages++ {
		page := b.List(t, fmt.Sprintf("%s&limit=100&beforeTime=%d", listing, before))
		for _, m := range page {
			at := int64(simtest.At(m, "createdTime").(float64))
			if at >= before {
				t.Fatalf("%d is not before %d", at, before)
			}
			if before = at; simtest.At(m, "isResolved") != false || simtest.At(m, "outcomeType") != "BINARY" {
				t.Errorf("%v is in the list of open binary markets", m)
			}
			seen[simtest.At(m, "id")] = true
		}
		if len(page) < 100 {
			break
		}
		if pages > 100 {
			t.Fatal("the walk does not end")
		}
	}
	if len(seen) < 1000 {
		t.Errorf("%d markets on %d pages", len(seen), pages)
	}
	if got := b.List(t, listing+"&limit=1000&offset=1000"); len(got) == 0 || len(got) > 200 {
		t.Errorf("beyond the first thousand: %d", len(got))
	}
}

func TestACreatorResolvesAndTakesItBack(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{})
	planned := b.market(t, id)["closeTime"]
	b.Pass(3 * time.Hour)
	at := b.Now().Add(-2 * time.Hour)
	b.Change(t, id, world.Change{State: world.Resolved, Verdict: world.Yes, At: at})
	got := b.market(t, id)
	if got["resolutionTime"] != float64(at.UnixMilli()) || got["closeTime"] != float64(at.UnixMilli()) || got["probability"] != 0.615 {
		t.Errorf("resolved: %v %v %v", got["resolutionTime"], got["closeTime"], got["probability"])
	}
	search := strings.Replace(listing, "term=", "term=lighthouse", 1)
	if len(b.List(t, search)) != 0 {
		t.Error("a resolved market is in the list of open ones")
	}
	b.Change(t, id, world.Change{State: world.Open})
	if got := b.market(t, id); got["isResolved"] != false || got["resolution"] != nil || got["resolutionTime"] != nil || got["closeTime"] != planned {
		t.Errorf("taken back: %v", got)
	}
	if simtest.At(b.List(t, search), "id") != got["id"] {
		t.Error("a market that is open again is not in the list of open ones")
	}
	b.Change(t, id, world.Change{State: world.Closed})
	if got := b.market(t, id); got["isResolved"] != false || got["closeTime"] != float64(b.Now().UnixMilli()) {
		t.Errorf("closed: %v %v", got["isResolved"], got["closeTime"])
	}
}

func TestBetsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{Start: simtest.Noon.Add(-24 * time.Hour)})
	path := base + "/bets?contractId=" + b.contract(t, id)
	price := world.Micros(100_000)
	b.Change(t, id, world.Change{Price: &price})
	b.Pass(time.Minute)
	all := b.List(t, path+"&order=desc")
	simtest.SameForm(t, "bets_page1_desc", all)
	if simtest.At(all, "probAfter") != 0.1 {
		t.Errorf("the newest bet did not bring the price: %v", simtest.At(all, "probAfter"))
	}
	orders, redeemed := 0, 0
	for i, bet := range all {
		if i > 0 && simtest.At(bet, "createdTime").(float64) >= simtest.At(all[i-1], "createdTime").(float64) {
			t.Fatalf("bet %d is not older than the one before", i)
		}
		if simtest.At(bet, "limitProb") != nil {
			orders++
			want := simtest.Sample(t, "bets_page2_last_desc").([]any)[1]
			for _, f := range simtest.Differences(want, bet) {
				t.Errorf("order%s", f)
			}
		}
		if simtest.At(bet, "isRedemption") == true {
			redeemed++
		}
	}
	if orders == 0 || redeemed == 0 {
		t.Errorf("%d orders that nobody took, %d redemptions", orders, redeemed)
	}
	var walked []any
	for before := ""; ; {
		page := b.List(t, path+"&order=desc&limit=100"+before)
		walked = append(walked, page...)
		if len(page) < 100 {
			break
		}
		before = "&before=" + simtest.At(page[99], "id").(string)
	}
	same := func(a, z any) bool { return simtest.At(a, "id") == simtest.At(z, "id") }
	if !slices.EqualFunc(all, walked, same) {
		t.Errorf("%d bets by pages, %d at once", len(walked), len(all))
	}
	if again := b.List(t, path+"&order=desc&limit=100&before=nobody"); !slices.EqualFunc(again, all[:100], same) {
		t.Error("an unknown id does not give the first page again")
	}
	if rising := b.List(t, path+"&order=asc&limit=3"); !same(rising[0], all[len(all)-1]) {
		t.Error("order asc does not begin with the oldest")
	}
	if none := b.List(t, base+"/bets?contractId=nobody"); len(none) != 0 {
		t.Errorf("bets of an unknown market: %v", none)
	}
}

func TestErrorsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	simtest.Equal(t, "error_not_found_404", b.Get(t, base+"/market/nobody", http.StatusNotFound))
	simtest.Equal(t, "error_validation_400", b.Get(t, base+"/search-markets?cursor=x", http.StatusBadRequest))
	for _, path := range []string{
		"/search-markets?limit=1001", "/search-markets?offset=1001", "/search-markets?limit=-1", "/search-markets?beforeTime=x", "/search-markets?filter=none",
		"/search-markets?sort=oldest", "/search-markets?contractType=ODD", "/bets", "/bets?contractId=x&limit=1001", "/bets?contractId=x&_=1", "/bets?contractId=x&order=up",
		"/market/x?_=1",
	} {
		if got := b.Get(t, base+path, http.StatusBadRequest); simtest.At(simtest.At(got, "details"), "error") == nil || simtest.At(got, "message") != "Error validating request." {
			t.Errorf("%s: %v", path, got)
		}
	}
	b.Get(t, base+"/nothing", http.StatusNotFound)
}

func TestIdsAreCaseSensitive(t *testing.T) {
	t.Parallel()
	b := setup()
	for n := range 20 {
		key := b.contract(t, b.Create(t, world.Draft{Question: fmt.Sprint("q", n)}))
		b.Get(t, base+"/market/"+key, http.StatusOK)
		for _, other := range []string{strings.ToLower(key), strings.ToUpper(key), strings.ToLower(key[:4]) + key[4:], strings.ToUpper(key[:4]) + key[4:], key + "0", key[1:]} {
			if other != key {
				b.Get(t, base+"/market/"+other, http.StatusNotFound)
			}
		}
	}
}

func TestManyReadersAndWriters(t *testing.T) {
	t.Parallel()
	b := setup()
	key := b.contract(t, b.Create(t, world.Draft{}))
	b.Rush(t, listing+"&limit=50", base+"/market/"+key, base+"/bets?contractId="+key)
}
