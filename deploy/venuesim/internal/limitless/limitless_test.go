package limitless_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// walk reads the active list to its end and gives its rows.
func (b *bench) walk(t *testing.T, limit int) (rows []any, pages int) {
	t.Helper()
	seen := map[any]bool{}
	for page := 1; ; page++ {
		v := b.Object(t, fmt.Sprintf("%s/active?page=%d&limit=%d", base, page, limit))
		data := v["data"].([]any)
		if len(data) == 0 {
			if int(v["totalMarketsCount"].(float64)) != len(rows) {
				t.Errorf("%d rows, the venue says %v", len(rows), v["totalMarketsCount"])
			}
			return rows, page - 1
		}
		if page > 1000 {
			t.Fatal("the walk does not end")
		}
		for _, row := range data {
			if slug := simtest.At(row, "slug"); seen[slug] {
				t.Fatalf("%v twice", slug)
			} else {
				seen[slug] = true
			}
			rows = append(rows, row)
		}
	}
}

func TestTheWalkEndsAndHasEveryActiveMarket(t *testing.T) {
	t.Parallel()
	b := setup()
	rows, pages := b.walk(t, 25)
	if pages != (len(rows)+24)/25 {
		t.Errorf("%d rows on %d pages", len(rows), pages)
	}
	kinds, words, children := map[any]int{}, map[any]int{}, 0
	for _, row := range rows {
		kinds[simtest.At(row, "tradeType")]++
		words[simtest.At(row, "status")]++
		if simtest.At(row, "expired") == true {
			t.Errorf("expired: %v", simtest.At(row, "slug"))
		}
		list, _ := simtest.At(row, "markets").([]any)
		children += len(list)
	}
	if kinds["clob"] == 0 || kinds["amm"] == 0 || kinds["group"] == 0 || words["FUNDED"] == 0 || words["FUNDED_FLAGGED"] == 0 || len(words) != 2 {
		t.Errorf("kinds %v, words %v", kinds, words)
	}
	if n := children + kinds["clob"] + kinds["amm"]; n < 250 {
		t.Errorf("%d markets", n)
	}
	simtest.SameForm(t, "markets_active_empty_page", map[string]any{
		"data":              b.Object(t, base+"/active?page=9999")["data"],
		"totalMarketsCount": b.Object(t, base+"/active?page=9223372036854775807")["totalMarketsCount"],
	})
}

// TestResolvedMarketsAreInNoList walks a market through its life: only its own
// address knows it after the end.
func TestResolvedMarketsAreInNoList(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{})
	slug := b.slug(t, id)
	listed := func() bool {
		return simtest.At(b.Object(t, base+"/active")["data"], "slug") == slug
	}
	for _, c := range []struct {
		change world.Change
		status string
		listed bool
	}{
		{world.Change{State: world.Open}, "FUNDED", true},
		{world.Change{State: world.Open, Word: "FUNDED_FLAGGED"}, "FUNDED_FLAGGED", true},
		{world.Change{State: world.Open, Word: "DRAFT"}, "DRAFT", false},
		{world.Change{State: world.Closed}, "FUNDED", false},
		{world.Change{State: world.Proposed}, "LOCKED", false},
		{world.Change{State: world.Open}, "FUNDED", true},
		{world.Change{State: world.Disputed}, "DISPUTED", false},
		{world.Change{State: world.Resolved, Verdict: world.No}, "RESOLVED", false},
	} {
		b.Change(t, id, c.change)
		if got := b.market(t, id)["status"]; got != c.status || listed() != c.listed {
			t.Errorf("%+v: %v, listed %t", c.change, got, listed())
		}
	}
	b.Change(t, id, world.Change{State: world.Open})
	b.Pass(49 * time.Hour)
	if got := b.market(t, id); got["expired"] != true || got["status"] != "FUNDED" || listed() {
		t.Errorf("after its end: %v %v, listed %t", got["status"], got["expired"], listed())
	}
}

func TestManyReadersAndWriters(t *testing.T) {
	t.Parallel()
	b := setup()
	slug := b.slug(t, b.Create(t, world.Draft{}))
	b.Rush(t, base+"/active?page=1&limit=25", base+"/"+slug, base+"/"+slug+"/historical-price?interval=1d")
}
