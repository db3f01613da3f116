package limitless_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/limitless"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const base = "/limitless/markets"

type bench struct {
	*simtest.Bench
	venue *limitless.Service
}

func setup() *bench {
	b := &bench{}
	b.Bench = simtest.New(300, func(w *world.World) http.Handler {
		b.venue = limitless.New(w)
		return b.venue.Handler()
	})
	return b
}

// slug is the venue's key of a market.
func (b *bench) slug(t *testing.T, id int64) string {
	t.Helper()
	m, ok := b.World.Get(id)
	if !ok {
		t.Fatalf("there is no market %d", id)
	}
	return b.venue.Key(&m)
}

func (b *bench) market(t *testing.T, id int64) map[string]any {
	t.Helper()
	return b.Object(t, base+"/"+b.slug(t, id))
}

func TestMarketsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	for _, c := range []struct {
		sample string
		kind   string
		change world.Change
	}{
		{"market_clob_open", "clob", world.Change{}},
		{"market_amm_open_percent_prices", "amm", world.Change{}},
		{"market_flagged_still_open", "", world.Change{State: world.Open, Word: "FUNDED_FLAGGED"}},
		{"market_draft", "", world.Change{State: world.Open, Word: "DRAFT"}},
		{"market_closed_not_resolved_expired", "", world.Change{State: world.Closed}},
		{"market_provisional_locked", "", world.Change{State: world.Proposed, Verdict: world.Yes}},
		{"market_resolved_yes", "", world.Change{State: world.Resolved, Verdict: world.Yes}},
		{"market_resolved_no", "", world.Change{State: world.Resolved, Verdict: world.No}},
		{"market_resolved_invalid_split", "", world.Change{State: world.Resolved, Verdict: world.Invalid}},
		{"market_resolved_winner_missing", "", world.Change{State: world.Resolved, Verdict: world.Yes, Form: "none"}},
	} {
		id := b.Create(t, world.Draft{Kind: c.kind})
		if c.change.State != "" {
			b.Change(t, id, c.change)
		}
		got, want := b.market(t, id), simtest.Sample(t, c.sample).(map[string]any)
		simtest.SameForm(t, c.sample, got)
		for _, name := range []string{"status", "expired", "winningOutcomeIndex", "tradeType", "marketType"} {
			if got[name] != want[name] {
				t.Errorf("%s: %s is %v, want %v", c.sample, name, got[name], want[name])
			}
		}
	}
}

func TestPricesHaveTheScaleOfTheirKind(t *testing.T) {
	t.Parallel()
	b := setup()
	for kind, want := range map[string][2]float64{"clob": {0.615, 0.385}, "amm": {61.5, 38.5}} {
		prices := b.market(t, b.Create(t, world.Draft{Kind: kind}))["prices"].([]any)
		if prices[0] != want[0] || prices[1] != want[1] {
			t.Errorf("%s: %v", kind, prices)
		}
	}
	id := b.Create(t, world.Draft{})
	b.Change(t, id, world.Change{State: world.Resolved, Verdict: world.Invalid})
	got := b.market(t, id)
	if p := got["prices"].([]any); p[0] != 0.5 || got["payoutNumerators"].([]any)[0] != got["payoutNumerators"].([]any)[1] {
		t.Errorf("even split: %v %v", p, got["payoutNumerators"])
	}
	b.Change(t, id, world.Change{State: world.Disputed})
	if got := b.market(t, id); got["status"] != "DISPUTED" || got["payoutNumerators"] != nil {
		t.Errorf("disputed: %v %v", got["status"], got["payoutNumerators"])
	}
}

func TestGroupsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	one, two := b.Create(t, world.Draft{EventTitle: "Invented Guild winner", Question: "Ada Quill"}), b.Create(t, world.Draft{EventTitle: "Invented Guild winner", Question: "Bo Reed"})
	list := b.Object(t, base+"/active?page=1&limit=25")["data"].([]any)
	if simtest.At(list, "marketType") != "group" {
		t.Fatalf("the newest row is %v", simtest.At(list, "slug"))
	}
	simtest.SameForm(t, "market_group", list[0])
	slug := simtest.At(list, "slug").(string)
	group := b.Object(t, base+"/"+slug)
	children := group["markets"].([]any)
	if len(children) != 2 || simtest.At(children[0], "slug") != b.slug(t, one) || simtest.At(children[1], "slug") != b.slug(t, two) {
		t.Errorf("children: %v", children)
	}
	simtest.SameForm(t, "market_group_child", b.market(t, one))
	b.Change(t, one, world.Change{State: world.Resolved, Verdict: world.No})
	if got := b.Object(t, base+"/"+slug); got["status"] != "FUNDED" || simtest.At(got["markets"], "status") != "RESOLVED" {
		t.Errorf("one of two resolved: %v", got["status"])
	}
	b.Change(t, two, world.Change{State: world.Resolved, Verdict: world.Yes})
	if got := b.Object(t, base+"/"+slug); got["status"] != "RESOLVED" {
		t.Errorf("both resolved: %v", got["status"])
	}
	lines := b.List(t, base+"/"+slug+"/historical-price?interval=1d")
	if len(lines) != 2 {
		t.Errorf("%d lines of a group of two", len(lines))
	}
}

func TestPriceLinesAndBooksAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{Kind: "clob", Start: simtest.Noon.Add(-30 * time.Hour)})
	path := base + "/" + b.slug(t, id)
	line := b.Object(t, path+"/historical-price?interval=1d")
	simtest.SameForm(t, "historical_price_object", line)
	if n := len(line["prices"].([]any)); n < 300 {
		t.Errorf("%d points in a day", n)
	}
	window := b.Object(t, path+"/historical-price?from=2026-10-10T06:00:00Z&to=2026-10-10T07:00:00Z")["prices"].([]any)
	if first, last := window[0], window[len(window)-1]; simtest.At(first, "timestamp") != "1791612000671" || simtest.At(last, "timestamp") != "1791615600000" {
		t.Errorf("window: %v … %v", first, last)
	}
	simtest.SameForm(t, "orderbook", b.Object(t, path+"/orderbook"))
	pool := b.slug(t, b.Create(t, world.Draft{Kind: "amm"}))
	simtest.Equal(t, "orderbook_error_amm_400", b.Get(t, base+"/"+pool+"/orderbook", http.StatusBadRequest))
	if got := b.Object(t, base+"/"+pool+"/historical-price?interval=1h"); simtest.At(got["prices"], "price") != 61.5 {
		t.Errorf("line of a pool: %v", got)
	}
	draft := b.Create(t, world.Draft{})
	b.Change(t, draft, world.Change{State: world.Open, Word: "DRAFT"})
	empty := b.Object(t, base+"/"+b.slug(t, draft)+"/historical-price?interval=all")
	if len(empty["prices"].([]any)) != 0 {
		t.Errorf("line of a draft: %v", empty)
	}
}

func TestErrorsAreWrittenAsTheSamples(t *testing.T) {
	t.Parallel()
	b := setup()
	simtest.Equal(t, "error_not_found_404", b.Get(t, base+"/none-17", http.StatusNotFound))
	simtest.Equal(t, "error_limit_too_big_400", b.Get(t, base+"/active?limit=26", http.StatusBadRequest))
	slug := b.slug(t, b.Create(t, world.Draft{}))
	for path, status := range map[string]int{
		base + "/active?page=0": 400, base + "/active?limit=x": 400, base + "/active?tradeType=odd": 400, base + "/" + slug + "/historical-price?interval=2d": 400,
		base + "/" + slug + "/historical-price?from=yesterday": 400, base + "/" + slug + "x": 404, base + "/" + strings.ToUpper(slug): 404,
		base + "/none-17/orderbook": 404, base + "/none-17/historical-price": 404, base + "/none-g17": 404, "/limitless/nothing": 404,
	} {
		if got := b.Get(t, path, status); simtest.At(got, "message") == nil {
			t.Errorf("%s: %v", path, got)
		}
	}
}
