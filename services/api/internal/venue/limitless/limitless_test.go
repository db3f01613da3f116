package limitless_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// fake is a venue that answers from a table of paths; what is not in it is the
// venue's own 404. It keeps what was asked.
type fake struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string]string // path, or path?query, to body
	status  int               // of every answer; 0 is by the table
	asked   []*url.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.URL)
	w.Header().Set("Content-Type", "application/json")
	path, _ := strings.CutPrefix(r.URL.RequestURI(), "/api")
	body, ok := f.answers[path]
	if !ok {
		path, _, _ = strings.Cut(path, "?")
		body, ok = f.answers[path]
	}
	switch {
	case f.status != 0:
		w.WriteHeader(f.status)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		body = sample(f.t, "error_not_found_404.json")
	}
	_, _ = w.Write([]byte(body))
}

func (f *fake) set(path, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = body
}

// paths are the requests so far, without the base.
func (f *fake) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, u := range f.asked {
		out = append(out, strings.TrimPrefix(u.RequestURI(), "/api"))
	}
	return out
}

type bundle struct {
	*fake
	adapter  *limitless.Adapter
	registry *prometheus.Registry
}

func setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	if answers == nil {
		answers = map[string]string{}
	}
	b := &bundle{fake: &fake{t: t, answers: answers}, registry: prometheus.NewRegistry()}
	srv := httptest.NewServer(b.fake)
	t.Cleanup(srv.Close)
	var err error
	b.adapter, err = limitless.New(limitless.Config{URL: srv.URL + "/api", RequestsPerSecond: 10_000},
		venue.NewMeter(b.registry), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// counted gives the value of a counter whose labels have all the words.
func (b *bundle) counted(name string, words ...string) (total float64) {
	families, err := b.registry.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			has := f.GetName() == name
			for _, w := range words {
				has = has && strings.Contains(m.String(), fmt.Sprintf("%q", w))
			}
			if has {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}

func sample(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func slugOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ Slug string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.Slug
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	slug := slugOf(t, raw)
	return setup(t, map[string]string{"/markets/" + slug: raw}).adapter.Get(t.Context(), "lmt-"+slug)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(sample(t, "market_clob_open.json")), &v); err != nil {
		t.Fatal(err)
	}
	for key, value := range changes {
		if v[key] = value; value == nil {
			delete(v, key)
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// members spells a market as the table of expected records does.
func members(t *testing.T, m *venue.Market, provider string) map[string]any {
	t.Helper()
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	var end any
	if m.EndDate != nil {
		end = m.EndDate.Format(time.RFC3339)
	}
	raw, err := json.Marshal(map[string]any{
		"id": m.ID, "venue": provider, "clobTokenId": text(m.ClobTokenID), "status": m.Status, "settled": m.Settled,
		"provisional": m.Provisional, "disputed": m.Disputed, "outcome": text(m.Outcome), "yesBps": m.YesBps, "endDate": end,
		"volume": m.Volume, "liquidity": m.Liquidity, "lane": m.VenueLane,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSamplesGiveTheExpectedRecords(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		ReferenceTime time.Time
		Records       map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if !table.ReferenceTime.Equal(noon) || len(table.Records) != 13 {
		t.Fatalf("table of %d records at %v", len(table.Records), table.ReferenceTime)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "market_*.json"))
	if err != nil || len(files) != len(table.Records)+1 { // and the group
		t.Fatalf("%d samples of a market, %v", len(files), err)
	}
	for name, want := range table.Records {
		m, err := one(t, sample(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := members(t, &m, "limitless"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "usd" || m.Question == "" || !m.FetchedAt.Equal(noon) || m.Outcomes != [2]string{"Yes", "No"} {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestAGroupIsNoMarket(t *testing.T) {
	t.Parallel()
	if _, err := one(t, sample(t, "market_group.json")); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := one(t, edit(t, map[string]any{"markets": []any{map[string]any{}}})); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its children alone: %v", err)
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := sample(t, "market_clob_open.json")
	const slug = "zed-above-10-on-oct-31-1788264000000"
	b := setup(t, map[string]string{
		"/markets/" + slug: raw, "/markets/ZED-above-10-on-oct-31-1788264000000": raw, "/markets/zed": raw,
		"/markets/active": sample(t, "markets_active_page1.json"), "/markets/search": sample(t, "search.json"),
	})
	m, err := b.adapter.Get(t.Context(), "lmt-"+slug)
	if err != nil || m.ID != "lmt-"+slug || syntax.MarketID(m.ID).NativeKey() != slug {
		t.Fatalf("%+v %v", m, err)
	}
	if _, err := b.adapter.Get(t.Context(), "lmt-ZED-above-10-on-oct-31-1788264000000"); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("another case: %v", err)
	}
	if _, err := b.adapter.Get(t.Context(), "lmt-zed"); !errors.Is(err, venue.ErrNotFound) || b.counted("venue_dropped_records_total", "another_market") != 2 {
		t.Errorf("another market: %v", err)
	}
	before := len(b.paths())
	for _, id := range []string{
		"", "lmt-", slug, "LMT-" + slug, "kalshi-X", "manifold-x", "7100001", "lmt-active", "lmt-Active", "lmt-search", "lmt-categories",
		"lmt-0x6c9c60243300e2da782f43d62cc17d0e39734503", "lmt-0X6C9C60243300E2DA782F43D62CC17D0E39734503", "lmt-..", "lmt-../x", "lmt-a/b",
		"lmt-a%2fb", "lmt-a?b", "lmt-a#b", "lmt-a b", "lmt-a\x00", "lmt-ñ", "lmt--a", "lmt-" + strings.Repeat("a", 125),
	} {
		if _, err := b.adapter.Get(t.Context(), id); !errors.Is(err, venue.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if got, err := b.adapter.Quote(t.Context(), []string{id}); err != nil || len(got) != 0 {
			t.Errorf("quote of %q: %v %v", id, got, err)
		}
		if got, err := b.adapter.History(t.Context(), venue.Market{ID: id}, venue.Day); err != nil || len(got) != 0 {
			t.Errorf("history of %q: %v %v", id, got, err)
		}
	}
	if after := b.paths(); len(after) != before {
		t.Errorf("ids of other forms left the house: %v", after[before:])
	}
	for _, slug := range []string{"active", "a/b", "", "..", "a b", "0x6c9c60243300e2da782f43d62cc17d0e39734503", strings.Repeat("a", 125)} {
		list := fmt.Sprintf(`{"data":[{"slug":"good","title":"t","status":"FUNDED"},{"slug":%q,"title":"t","status":"FUNDED"}]}`, slug)
		page, _, err := setup(t, map[string]string{"/markets/active": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("slug %q: %d markets, %v", slug, len(page), err)
		}
	}
}

func TestErrorAnswersAreFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body   string
		status int
		get    error
	}{
		{sample(t, "error_not_found_404.json"), 404, venue.ErrNotFound},
		{sample(t, "error_limit_too_big_400.json"), 400, venue.ErrUnavailable},
		{`{"message":"Too many requests"}`, 429, venue.ErrUnavailable},
		{`{"statusCode":500,"message":"Internal server error"}`, 500, venue.ErrUnavailable},
	} {
		b := setup(t, map[string]string{"/markets/x": c.body, "/markets/active": c.body, "/markets/x/historical-price": c.body})
		b.status = c.status
		if _, err := b.adapter.Get(t.Context(), "lmt-x"); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status == 429 { // each of these waits for two more tries
			continue
		}
		if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("list, %d: %v", c.status, err)
		}
		_, quote := b.adapter.Quote(t.Context(), []string{"lmt-x"})
		_, history := b.adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, venue.Day)
		for what, err := range map[string]error{"quote": quote, "history": history} {
			if c.status == 404 && err != nil || c.status != 404 && !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("%s, %d: %v", what, c.status, err)
			}
		}
	}
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"slug":"y","title":"t","status":"FUNDED"}`:                      venue.ErrNotFound,    // another market
		`{"slug":"x","title":"t"}`:                                        venue.ErrUnavailable, // no state
		`{"slug":"x","status":"FUNDED"}`:                                  venue.ErrUnavailable, // no title
		`{"slug":"x","title":"t","status":7}`:                             venue.ErrUnavailable,
		`{"slug":"x","title":"t","status":"FUNDED","expired":"maybe"}`:    venue.ErrUnavailable,
		`{"slug":"x","title":"t","status":"FUNDED","marketType":"group"}`: venue.ErrNotFound,
		`[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable, `null`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/markets/x": body})
		if _, err := b.adapter.Get(t.Context(), "lmt-x"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}
