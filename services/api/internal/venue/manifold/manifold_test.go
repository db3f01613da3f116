package manifold_test

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
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
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
	path, _ := strings.CutPrefix(r.URL.RequestURI(), "/v0")
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
		out = append(out, strings.TrimPrefix(u.RequestURI(), "/v0"))
	}
	return out
}

type bundle struct {
	*fake
	adapter  *manifold.Adapter
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
	b.adapter, err = manifold.New(manifold.Config{URL: srv.URL + "/v0", RequestsPerSecond: 10_000},
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

func idOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ ID string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.ID
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	id := idOf(t, raw)
	return setup(t, map[string]string{"/market/" + id: raw}).adapter.Get(t.Context(), "manifold-"+id)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(sample(t, "market_open_binary.json")), &v); err != nil {
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
	if !table.ReferenceTime.Equal(noon) || len(table.Records) != 16 {
		t.Fatalf("table of %d records at %v", len(table.Records), table.ReferenceTime)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "market_*.json"))
	if err != nil || len(files) != len(table.Records)+3 { // and three answers of bare probabilities
		t.Fatalf("%d samples of a market, %v", len(files), err)
	}
	for name, want := range table.Records {
		m, err := one(t, sample(t, name))
		if want["skip"] != nil {
			if !errors.Is(err, venue.ErrNotFound) {
				t.Errorf("%s: %v, want it left out", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := members(t, &m, "manifold"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "mana" || m.Question == "" || m.Description == "" || !m.FetchedAt.Equal(noon) || m.ProofURL == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := sample(t, "market_open_mixed_case_id.json")
	b := setup(t, map[string]string{"/market/AbCdEfGh12InventedXY": raw, "/market/abcdefgh12inventedxy": raw, "/market/other": raw})
	m, err := b.adapter.Get(t.Context(), "manifold-AbCdEfGh12InventedXY")
	if err != nil || m.ID != "manifold-AbCdEfGh12InventedXY" || syntax.MarketID(m.ID).NativeKey() != "AbCdEfGh12InventedXY" {
		t.Fatalf("%+v %v", m, err)
	}
	if _, err := b.adapter.Get(t.Context(), "manifold-abcdefgh12inventedxy"); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("another case: %v", err)
	}
	if _, err := b.adapter.Get(t.Context(), "manifold-other"); !errors.Is(err, venue.ErrNotFound) || b.counted("venue_dropped_records_total", "another_market") != 2 {
		t.Errorf("another market: %v", err)
	}
	before := len(b.paths())
	for _, id := range []string{
		"", "manifold-", "q7invented01", "Manifold-q7invented01", "kalshi-X", "lmt-x", "7100001", "manifold-..", "manifold-../bets", "manifold-a/prob",
		"manifold-a%2fprob", "manifold-a?b", "manifold-a#b", "manifold-a b", "manifold-a\x00", "manifold-é", "manifold--a", "manifold-" + strings.Repeat("a", 120),
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
	for _, id := range []string{"a/b", "", "..", "a b", strings.Repeat("a", 120)} {
		list := fmt.Sprintf(`[{"id":"good","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false},
			{"id":%q,"question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}]`, id)
		page, _, err := setup(t, map[string]string{"/search-markets": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("id %q: %d markets, %v", id, len(page), err)
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
		{sample(t, "error_validation_400.json"), 400, venue.ErrUnavailable},
		{sample(t, "error_offset_400.json"), 400, venue.ErrUnavailable},
		{`{"message":"Too many requests"}`, 429, venue.ErrUnavailable},
		{`{"message":"Internal server error"}`, 500, venue.ErrUnavailable},
		{sample(t, "error_busy_503.json"), 503, venue.ErrUnavailable},
	} {
		b := setup(t, map[string]string{"/market/x": c.body, "/search-markets": c.body, "/bets": c.body})
		b.status = c.status
		if _, err := b.adapter.Get(t.Context(), "manifold-x"); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status == 429 || c.status == 503 { // each of these waits for two more tries
			continue
		}
		if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("list, %d: %v", c.status, err)
		}
		_, quote := b.adapter.Quote(t.Context(), []string{"manifold-x"})
		_, history := b.adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.Day)
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
		`{"id":"y","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`:   venue.ErrNotFound,    // another market
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1"}`:                      venue.ErrUnavailable, // no state
		`{"id":"x","question":"q","mechanism":"cpmm-1","isResolved":false}`:                          venue.ErrUnavailable, // no kind
		`{"id":"x","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`:                  venue.ErrUnavailable, // no question
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":"maybe"}`: venue.ErrUnavailable,
		`{"id":"x","question":"q","outcomeType":"STONK","mechanism":"cpmm-1","isResolved":false}`:    venue.ErrNotFound,
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"dpm-2","isResolved":false}`:    venue.ErrNotFound,
		`[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable, `null`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/market/x": body})
		if _, err := b.adapter.Get(t.Context(), "manifold-x"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
	if _, err := manifold.New(manifold.Config{URL: "http://x", RequestsPerSecond: 1, Wait: -1}, nil, time.Now); err == nil {
		t.Error("a wait below 0 was accepted")
	}
}
