package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestSearchPage checks the results of a search, the popular markets for a short text, and the page if nothing matches.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Run()
	b.ledger.AddOperator("ostrava_bot")
	has(t, b.get("/search?q=ostrava"), 200, question, `href="/m/`+gauge+`"`, "YES 31.5¢ · Polymarket · Science", `href="/u/ostrava_bot"`,
		`name="q" aria-label="Search markets and forecasters" placeholder="Search" value="ostrava"`, "noindex", "!matches")
	has(t, b.get("/search?q=%40MARA"), 200, `href="/u/mara_k"`, "!"+question, "!Markets</h2>")
	for _, short := range []string{"", "?q=", "?q=m", "?q=%20o%20"} {
		has(t, b.get("/search"+short), 200, "Popular markets", question, "!Forecasters</h2>")
	}
	w := b.get("/search?q=zzzqqq+%3Cb%3Evv")
	has(t, w, 200, "No market or forecaster matches “zzzqqq &lt;b&gt;vv”.", `<a href="/search?q=zzzqqq">zzzqqq</a>`, "/markets?lane=science", "!<b>vv")
	if n := strings.Count(w.Body.String(), `<a href="/search?q=`); n != 2 {
		t.Errorf("the page offers %d other spellings; want 2", n)
	}
	for i := range 30 {
		b.ledger.AddOperator(fmt.Sprintf("many_%02d", i))
	}
	if n := strings.Count(b.get("/search?q=many_").Body.String(), `href="/u/many_`); n != 25 {
		t.Errorf("the page has %d forecasters; want 25", n)
	}
}

// TestSearchParts checks that the page shows the other results if one source fails.
func TestSearchParts(t *testing.T) {
	t.Parallel()
	checkParts(t, "/search?q=mara", "/search", map[string][2]string{
		"FindMarkets":   {"Markets are unavailable.", ""},
		"FindOperators": {"Forecasters are unavailable.", "@mara_k"},
	}, func(*fixture) {})
}

// TestSuggestions checks that suggestions are at most ten results as JSON, with at most three forecasters while markets fill the
// other places.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 12 {
		b.ledger.AddOperator(fmt.Sprintf("river_%02d", i))
		b.ledger.AddMarket(apitest.Market{ID: fmt.Sprint("90", i), Title: fmt.Sprintf("River %d", i), Yes: 4000, Lane: "SCIENCE"})
	}
	b.ledger.Run()
	suggest := func(q string) (kinds map[string]int, first string) {
		t.Helper()
		w := b.get("/search/suggest?q=" + q)
		var answer struct {
			Items []struct{ Kind, Title, URL, Note string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || answer.Items == nil {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		kinds = map[string]int{}
		for _, item := range answer.Items {
			kinds[item.Kind]++
		}
		if len(answer.Items) > 0 {
			first = answer.Items[0].URL
		}
		return kinds, first
	}
	if kinds, first := suggest("gauge"); kinds["market"] != 1 || first != "/m/"+gauge {
		t.Errorf("gauge: %v, first %q", kinds, first)
	}
	if kinds, first := suggest("%40mara"); kinds["forecaster"] != 1 || kinds["market"] != 0 || first != "/u/mara_k" {
		t.Errorf("@mara: %v, first %q", kinds, first)
	}
	if kinds, _ := suggest("river"); kinds["market"] != 7 || kinds["forecaster"] != 3 {
		t.Errorf("river: %v; want 7 markets and 3 forecasters", kinds)
	}
	if kinds, _ := suggest("zzzqqq"); len(kinds) != 0 {
		t.Errorf("zzzqqq: %v; want nothing", kinds)
	}
	b.ledger.Fail(apitest.ErrDB, "FindMarkets")
	r := httptest.NewRequest("GET", "/search/suggest?q=river", nil)
	if w := b.serve(r); w.Code != 200 || w.Header().Get("X-Degraded") == "" || !strings.Contains(w.Body.String(), "/u/river_") {
		t.Errorf("without markets: %d %v %s", w.Code, w.Header(), w.Body)
	}
}
