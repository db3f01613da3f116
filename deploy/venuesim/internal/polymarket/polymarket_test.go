package polymarket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/polymarket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/universe"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

type bundle struct {
	world *world.World
	h     http.Handler

	mu  sync.Mutex
	now time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{now: noon}
	b.world = world.New(universe.New(7), 7, b.clock)
	b.h = polymarket.New(b.world, nil).Handler()
	return b
}

func (b *bundle) clock() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }

func (b *bundle) pass(d time.Duration) { b.mu.Lock(); b.now = b.now.Add(d); b.mu.Unlock() }

func (b *bundle) create(t *testing.T, d world.Draft) int64 {
	t.Helper()
	if d.Question == "" {
		d.Question = "Will the invented lighthouse be lit?"
	}
	if d.Outcomes == nil {
		d.Outcomes = []string{"Yes", "No"}
	}
	if d.Price == 0 {
		d.Price = 615_000
	}
	if d.End.IsZero() {
		d.End = b.clock().Add(48 * time.Hour)
	}
	d.Volume, d.Tags = 25_000, append(d.Tags, world.Tag{ID: "2", Label: "World", Slug: "world"})
	id, err := b.world.Create(d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (b *bundle) get(path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	b.h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

func (b *bundle) object(t *testing.T, path string, status int) map[string]any {
	t.Helper()
	rec := b.get(path)
	if rec.Code != status {
		t.Fatalf("%s: status %d, want %d: %s", path, rec.Code, status, rec.Body)
	}
	var v map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func ids(list []any) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.(map[string]any)["id"].(string))
	}
	return out
}

func TestWalkGivesEveryOpenMarketOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, order := range []string{"id", "volumeNum", "endDate", "liquidityNum"} {
		seen := map[string]bool{}
		cursor, pages := "", 0
		for {
			v := b.object(t, "/gamma/markets/keyset?closed=false&limit=5000&ascending=true&order="+order+"&after_cursor="+cursor, 200)
			list := ids(v["markets"].([]any))
			if len(list) > 100 {
				t.Fatalf("page of %d markets", len(list))
			}
			for _, id := range list {
				if seen[id] {
					t.Fatalf("order %s: market %s twice", order, id)
				}
				seen[id] = true
			}
			pages++
			next, more := v["next_cursor"]
			if !more {
				break
			}
			cursor = next.(string)
		}
		if len(seen) < universe.Size || len(seen) > universe.Size+100 || pages != (len(seen)+99)/100 {
			t.Errorf("order %s: %d markets on %d pages", order, len(seen), pages)
		}
	}
}

func TestPagingTraps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.object(t, "/gamma/markets/keyset?closed=false&limit=3", 200)
	cursor := first["next_cursor"].(string)
	wrongName := b.object(t, "/gamma/markets/keyset?closed=false&limit=3&cursor="+cursor+"&next_cursor="+cursor, 200)
	if !slices.Equal(ids(first["markets"].([]any)), ids(wrongName["markets"].([]any))) {
		t.Error("a cursor under another name must be ignored")
	}
	right := b.object(t, "/gamma/markets/keyset?closed=false&limit=3&after_cursor="+cursor, 200)
	if slices.Equal(ids(first["markets"].([]any)), ids(right["markets"].([]any))) {
		t.Error("after_cursor did not move on")
	}
	for _, bad := range []string{"order=volume_num", "limit=x", "closed=perhaps", "after_cursor=!!", "end_date_min=soon", "id=x"} {
		if e := b.object(t, "/gamma/markets/keyset?"+bad, 422); e["type"] != "validation error" {
			t.Errorf("%s: %v", bad, e)
		}
	}
	rec := b.get("/gamma/markets?closed=false&limit=2&offset=2000")
	if rec.Code != 200 || rec.Header().Get("Sunset") == "" || rec.Header().Get("Deprecation") == "" || !strings.HasPrefix(rec.Body.String(), "[") {
		t.Errorf("old list: %d %v", rec.Code, rec.Header())
	}
}

func TestLookupsHideClosedMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t, world.Draft{})
	m, _ := b.world.Get(id)
	keys := []string{"slug=" + m.Slug, "condition_ids=" + m.ConditionID, "clob_token_ids=" + m.Tokens[1], "id=" + strconv.FormatInt(id, 10)}
	count := func(query string) int {
		return len(b.object(t, "/gamma/markets/keyset?"+query, 200)["markets"].([]any))
	}
	for _, key := range keys {
		if count(key) != 1 {
			t.Errorf("open market not found by %s", key)
		}
	}
	if err := b.world.Change(id, world.Change{State: world.Resolved, Verdict: world.No}); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if count(key) != 0 || count(key+"&closed=true") != 1 {
			t.Errorf("closed market by %s: %d without closed=true, %d with", key, count(key), count(key+"&closed=true"))
		}
	}
	if got := b.object(t, "/gamma/markets/slug/"+m.Slug, 200)["id"]; got != strconv.FormatInt(id, 10) {
		t.Errorf("by slug: %v", got)
	}
	if rec := b.get("/clob/book?token_id=" + m.Tokens[0]); rec.Code != 404 {
		t.Errorf("book of a finished market: %d", rec.Code)
	}
}

func TestFiltersKeepOnlyWhatTheySay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	list := func(query string) []any {
		return b.object(t, "/gamma/markets/keyset?limit=100&include_tag=true&"+query, 200)["markets"].([]any)
	}
	soon := noon.Add(24 * time.Hour).Format(time.RFC3339)
	for _, m := range list("end_date_max=" + soon + "&volume_num_min=2000") {
		m := m.(map[string]any)
		if m["endDate"].(string) > soon || m["volumeNum"].(float64) < 2000 {
			t.Errorf("%v ends %v with %v", m["id"], m["endDate"], m["volumeNum"])
		}
	}
	tag := list("")[0].(map[string]any)["tags"].([]any)[0].(map[string]any)
	for _, m := range list("tag_id=" + tag["id"].(string)) {
		if !strings.Contains(fmt.Sprint(m.(map[string]any)["tags"]), tag["slug"].(string)) {
			t.Errorf("market without tag %v", tag["slug"])
		}
	}
	if n := len(list("uma_resolution_status=resolved&closed=true")); n != 100 {
		t.Errorf("%d resolved markets on a page", n)
	}
}

func TestHistoryEndsAtTheCurrentPrice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, m := range b.object(t, "/gamma/markets/keyset?closed=false&active=true&limit=20", 200)["markets"].([]any) {
		var tokens, prices []string
		m := m.(map[string]any)
		if json.Unmarshal([]byte(m["clobTokenIds"].(string)), &tokens) != nil || json.Unmarshal([]byte(m["outcomePrices"].(string)), &prices) != nil {
			t.Fatal("lists are not JSON text")
		}
		for i := range tokens {
			v := b.object(t, "/clob/prices-history?interval=max&fidelity=720&market="+tokens[i], 200)["history"].([]any)
			if len(v) == 0 {
				continue // younger than one step
			}
			last := v[len(v)-1].(map[string]any)
			if strconv.FormatFloat(last["p"].(float64), 'f', -1, 64) != prices[i] || int64(last["t"].(float64)) != noon.Unix() {
				t.Errorf("%v side %d: history ends at %v, price %s", m["id"], i, last, prices[i])
			}
		}
		mid := b.object(t, "/clob/midpoint?token_id="+tokens[0], 200)["mid"]
		if mid != prices[0] {
			t.Errorf("midpoint %v, price %s", mid, prices[0])
		}
	}
}

func TestHistoryFollowsWhatATestSets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t, world.Draft{Price: 300_000})
	b.pass(30 * time.Minute)
	p := world.Micros(800_000)
	if err := b.world.Change(id, world.Change{Price: &p}); err != nil {
		t.Fatal(err)
	}
	b.pass(30 * time.Minute)
	m, _ := b.world.Get(id)
	seen := map[float64]int{}
	for _, point := range b.object(t, "/clob/prices-history?interval=1h&fidelity=1&market="+m.Tokens[0], 200)["history"].([]any) {
		seen[point.(map[string]any)["p"].(float64)]++
	}
	if len(seen) != 2 || seen[0.3] < 25 || seen[0.8] < 25 {
		t.Errorf("prices seen: %v", seen)
	}
}

func TestHistoryRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, _ := b.world.Get(b.create(t, world.Draft{}))
	for query, status := range map[string]int{
		"interval=1h": 200, "interval=6h&fidelity=1": 200, "interval=1w&fidelity=5": 200, "interval=1m&fidelity=9": 400, "interval=1m&fidelity=10": 200,
		"interval=2y": 400, "": 400, "endTs=1790000000": 400, "startTs=1790000000&endTs=1791296000": 200, "startTs=1790000000&endTs=1791296001": 400,
		"interval=1d&fidelity=0": 400,
	} {
		if rec := b.get("/clob/prices-history?market=" + m.Tokens[0] + "&" + query); rec.Code != status {
			t.Errorf("%s: %d, want %d: %s", query, rec.Code, status, rec.Body)
		}
	}
	for market, want := range map[string]int{"123": 200, "": 400} {
		if rec := b.get("/clob/prices-history?interval=1d&market=" + market); rec.Code != want {
			t.Errorf("market %q: %d", market, rec.Code)
		}
	}
	if rec := b.get("/clob/midpoint?token_id=abc"); rec.Code != 400 {
		t.Errorf("malformed token: %d", rec.Code)
	}
	if rec := b.get("/clob/midpoints?token_id=1"); rec.Code != 400 {
		t.Errorf("GET form of the plural path: %d", rec.Code)
	}
}

func TestMidpointsLeaveOutWhatHasNoBook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, _ := b.world.Get(b.create(t, world.Draft{Price: 250_000}))
	rec := httptest.NewRecorder()
	body := fmt.Sprintf(`[{"token_id":%q},{"token_id":%q},{"token_id":"77"}]`, m.Tokens[0], m.Tokens[1])
	b.h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/clob/midpoints", strings.NewReader(body)))
	var got map[string]string
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || len(got) != 2 || got[m.Tokens[0]] != "0.25" || got[m.Tokens[1]] != "0.75" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}
