package kalshi_test

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
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
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
	path, _ := strings.CutPrefix(r.URL.RequestURI(), "/trade-api/v2")
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
		out = append(out, strings.TrimPrefix(u.RequestURI(), "/trade-api/v2"))
	}
	return out
}

type bundle struct {
	*fake
	adapter  *kalshi.Adapter
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
	b.adapter, err = kalshi.New(kalshi.Config{URL: srv.URL + "/trade-api/v2", RequestsPerSecond: 10_000},
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

func tickerOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ Market struct{ Ticker string } }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.Market.Ticker
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	ticker := tickerOf(t, raw)
	return setup(t, map[string]string{"/markets/" + ticker: raw}).adapter.Get(t.Context(), "kalshi-"+ticker)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	var v struct {
		Market map[string]any `json:"market"`
	}
	if err := json.Unmarshal([]byte(sample(t, "market_open.json")), &v); err != nil {
		t.Fatal(err)
	}
	for key, value := range changes {
		if v.Market[key] = value; value == nil {
			delete(v.Market, key)
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
	if !table.ReferenceTime.Equal(noon) || len(table.Records) != 17 {
		t.Fatalf("table of %d records at %v", len(table.Records), table.ReferenceTime)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "market_*.json"))
	if err != nil || len(files) != len(table.Records)+1 { // and the combination
		t.Fatalf("%d samples of a market, %v", len(files), err)
	}
	for name, want := range table.Records {
		m, err := one(t, sample(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := members(t, &m, "kalshi"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "contracts" || m.Question == "" || !m.FetchedAt.Equal(noon) || m.Outcomes != [2]string{"Yes", "No"} {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestACombinationIsLeftOut(t *testing.T) {
	t.Parallel()
	raw := sample(t, "market_combo_to_skip.json")
	if _, err := one(t, raw); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its collection: %v", err)
	}
	if _, err := one(t, strings.Replace(raw, `"mve_collection_ticker"`, `"mve_other"`, 1)); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its ticker alone: %v", err)
	}
	if m, err := one(t, edit(t, map[string]any{"is_provisional": true})); err != nil || m.Status != venue.Open || m.Provisional {
		t.Errorf("a listing that may be withdrawn: %+v %v", m, err)
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := sample(t, "market_open.json")
	b := setup(t, map[string]string{"/markets/KXRIVER-26OCT31-T4.5": raw})
	m, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5")
	if err != nil || m.ID != "kalshi-KXRIVER-26OCT31-T4.5" || syntax.MarketID(m.ID).NativeKey() != "KXRIVER-26OCT31-T4.5" {
		t.Fatalf("%+v %v", m, err)
	}
	before := len(b.paths())
	for _, id := range []string{
		"", "kalshi-", "KXRIVER-26OCT31-T4.5", "Kalshi-KXRIVER-26OCT31-T4.5", "lmt-KXRIVER", "native-KXRIVER", "7100001",
		"kalshi-kxriver-26oct31-t4.5", "kalshi-KXRIVER-26OCT31-t4.5", "kalshi-candlesticks", "kalshi-trades", "kalshi-..", "kalshi-../events",
		"kalshi-A/B", "kalshi-A%2FB", "kalshi-A?x=1", "kalshi-A#B", "kalshi-A B", "kalshi-A\x00", "kalshi-Ä", "kalshi-" + strings.Repeat("A", 122),
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
	for _, ticker := range []string{"kxriver", "A/B", "", "..", "A B", strings.Repeat("A", 122)} {
		list := fmt.Sprintf(`{"events":[{"event_ticker":"KXA","markets":[{"ticker":"KXB","status":"active","close_time":"2027-01-01T00:00:00Z"},
			{"ticker":%q,"status":"active","close_time":"2027-01-01T00:00:00Z"}]}]}`, ticker)
		page, _, err := setup(t, map[string]string{"/events": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("ticker %q: %d markets, %v", ticker, len(page), err)
		}
	}
}

func TestErrorAnswersAreFaults(t *testing.T) {
	t.Parallel()
	ticker := "KXRIVER-26OCT31-T4.5"
	for _, c := range []struct {
		file   string
		status int
		get    error
	}{
		{"error_not_found_404.json", 404, venue.ErrNotFound},
		{"error_bad_request_400.json", 400, venue.ErrUnavailable},
		{"error_rate_limited_429.json", 429, venue.ErrUnavailable},
		{"error_flat_500.json", 500, venue.ErrUnavailable},
	} {
		body := sample(t, c.file)
		b := setup(t, map[string]string{
			"/markets/" + ticker: body, "/historical/markets/" + ticker: body, "/events": body, "/markets": body,
		})
		b.status = c.status
		if _, err := b.adapter.Get(t.Context(), "kalshi-"+ticker); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status != 429 { // each of these waits for two more tries
			if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("list, %d: %v", c.status, err)
			}
			if _, err := b.adapter.Quote(t.Context(), []string{"kalshi-" + ticker}); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("quote, %d: %v", c.status, err)
			}
		}
		_, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + ticker}, venue.Day)
		if c.status == 404 && err != nil || c.status != 404 && !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("history, %d: %v", c.status, err)
		}
	}
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"market":{"ticker":"KXB","status":"active"}}`:                             venue.ErrNotFound,    // another market
		`{"market":{"ticker":"KXA"}}`:                                               venue.ErrUnavailable, // no state
		`{"market":{"ticker":"KXA","status":7}}`:                                    venue.ErrUnavailable,
		`{"market":{"ticker":"KXA","status":"active","yes_bid_dollars":[1]}}`:       venue.ErrUnavailable,
		`{"market":{"ticker":"KXA","status":"active","mve_collection_ticker":"C"}}`: venue.ErrNotFound,
		`{"market":null}`: venue.ErrUnavailable, `{}`: venue.ErrUnavailable, `[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/markets/KXA": body})
		if _, err := b.adapter.Get(t.Context(), "kalshi-KXA"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}
