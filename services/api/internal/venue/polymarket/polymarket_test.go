package polymarket_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// fake is a venue that answers from a table of paths; what is not in it is the
// venue's own 404. It keeps what was asked.
type fake struct {
	mu      sync.Mutex
	answers map[string]string // path, or path?query, to body
	asked   []*url.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.URL)
	w.Header().Set("Content-Type", "application/json")
	body, ok := f.answers[r.URL.RequestURI()]
	if !ok {
		body, ok = f.answers[r.URL.Path]
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		body = `{"type":"not found error","error":"id not found"}`
	}
	_, _ = w.Write([]byte(body))
}

func (f *fake) last() url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[len(f.asked)-1].Query()
}

type bundle struct {
	*fake
	adapter  *polymarket.Adapter
	registry *prometheus.Registry
}

func setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	b := &bundle{fake: &fake{answers: answers}, registry: prometheus.NewRegistry()}
	srv := httptest.NewServer(b.fake)
	t.Cleanup(srv.Close)
	var err error
	b.adapter, err = polymarket.New(polymarket.Config{
		GammaURL: srv.URL + "/gamma", ClobURL: srv.URL + "/clob/", RequestsPerSecond: 10_000, PastEndIsProvisional: true,
	}, venue.NewMeter(b.registry), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sample(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func idOf(t *testing.T, raw string) string {
	t.Helper()
	var head struct{ ID string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.ID
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string, more map[string]string) (venue.Market, error) {
	t.Helper()
	id := idOf(t, raw)
	answers := map[string]string{"/gamma/markets/" + id: raw}
	for path, body := range more {
		answers[path] = body
	}
	return setup(t, answers).adapter.Get(t.Context(), id)
}

type expected struct {
	ID, Status, Outcome, EndDate, ClobTokenID, Lane string
	Settled, Provisional, Disputed                  bool
	YesBps                                          *int
	Volume, Liquidity                               *float64
	Skip                                            string
}

func TestSamplesGiveTheExpectedRecords(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		ReferenceTime time.Time
		Records       map[string]expected
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if !table.ReferenceTime.Equal(noon) || len(table.Records) != 21 {
		t.Fatalf("table of %d records at %v", len(table.Records), table.ReferenceTime)
	}
	for name, want := range table.Records {
		m, err := one(t, sample(t, name), nil)
		if want.Skip != "" {
			if !errors.Is(err, venue.ErrNotFound) {
				t.Errorf("%s: %v, want it left out", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := expected{
			ID: m.ID, Status: m.Status, Outcome: m.Outcome, ClobTokenID: m.ClobTokenID, Lane: m.VenueLane, Settled: m.Settled,
			Provisional: m.Provisional, Disputed: m.Disputed, YesBps: m.YesBps, Volume: m.Volume, Liquidity: m.Liquidity,
		}
		if m.EndDate != nil {
			got.EndDate = m.EndDate.Format(time.RFC3339)
		}
		if a, b := show(t, got), show(t, want); a != b {
			t.Errorf("%s:\n got %s\nwant %s", name, a, b)
		}
	}
}

func show(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"id":"8","question":"q","closed":false,"outcomes":"[\"Yes\",\"No\"]"}`:    venue.ErrNotFound, // another market
		`{"id":"7","question":"q","closed":"maybe","outcomes":"[\"Yes\",\"No\"]"}`:  venue.ErrUnavailable,
		`{"id":"7","question":"q","outcomes":"[\"Yes\",\"No\"]"}`:                   venue.ErrUnavailable, // no state
		`{"id":"7","question":"q","closed":false,"outcomes":"[\"A\",\"B\",\"C\"]"}`: venue.ErrNotFound,
		`[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable, `null`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/gamma/markets/7": body})
		if _, err := b.adapter.Get(t.Context(), "7"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
	b := setup(t, nil)
	for _, id := range []string{"7", "", "07x", "٧", "../7", strings.Repeat("7", 21)} {
		if _, err := b.adapter.Get(t.Context(), id); !errors.Is(err, venue.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if len(b.asked) != 1 {
		t.Errorf("the venue was asked %d times, want once: ids of other forms never leave", len(b.asked))
	}
}

func TestEveryWalkEnds(t *testing.T) {
	t.Parallel()
	page := func(next string) string {
		return fmt.Sprintf(`{"markets":[%s],"next_cursor":%q}`, sample(t, "market_open.json"), next)
	}
	walk := func(b *bundle) (pages int) {
		cursor := ""
		for {
			_, next, err := b.adapter.List(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			if pages++; next == "" || pages > 5000 {
				return pages
			}
			cursor = next
		}
	}
	same := setup(t, map[string]string{"/gamma/markets/keyset": page("again")})
	if n := walk(same); n != 2 {
		t.Errorf("a cursor that repeats was followed for %d pages", n)
	}
	empty := setup(t, map[string]string{"/gamma/markets/keyset": `{"markets":[],"next_cursor":"more"}`})
	if n := walk(empty); n != 1 {
		t.Errorf("an empty page was followed: %d pages", n)
	}
	turns := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turns++
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"markets":[{"id":"7","question":"q","closed":false,"outcomes":"[]"}],"next_cursor":"c%d"}`, turns)
	}))
	defer srv.Close()
	a, err := polymarket.New(polymarket.Config{GammaURL: srv.URL, ClobURL: srv.URL, RequestsPerSecond: 1e6}, venue.NewMeter(prometheus.NewRegistry()), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if n := walk(&bundle{adapter: a}); n != 1000 {
		t.Errorf("a list without end was followed for %d pages", n)
	}
	for _, bad := range []string{"x", "1", "0:c", "-1:c", "1000:c", "1:"} {
		if _, _, err := a.List(t.Context(), bad); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	first := sample(t, "markets_keyset_page1.json")
	b := setup(t, map[string]string{"/gamma/markets/keyset": first})
	page, next, err := b.adapter.List(t.Context(), "")
	if err != nil || len(page) != 3 || next == "" {
		t.Fatalf("%d markets, next %q, %v", len(page), next, err)
	}
	if q := b.last(); q.Get("closed") != "false" || q.Get("limit") != "100" || q.Get("include_tag") != "true" || q.Has("after_cursor") {
		t.Errorf("first page asked with %v", q)
	}
	b.answers["/gamma/markets/keyset"] = sample(t, "markets_keyset_page2_last.json")
	page, next, err = b.adapter.List(t.Context(), next)
	if err != nil || len(page) != 2 || next != "" {
		t.Fatalf("%d markets, next %q, %v", len(page), next, err)
	}
	if q := b.last(); q.Get("after_cursor") == "" || q.Get("closed") != "false" {
		t.Errorf("second page asked with %v", q)
	}
}

func TestOneBadRecordDoesNotSpoilAPage(t *testing.T) {
	t.Parallel()
	body := fmt.Sprintf(`{"markets":[{"id":5},%s,{"id":"9","question":"q","closed":{}},%s]}`,
		sample(t, "market_open.json"), sample(t, "market_legacy_three_outcomes.json"))
	page, _, err := setup(t, map[string]string{"/gamma/markets/keyset": body}).adapter.List(t.Context(), "")
	if err != nil || len(page) != 1 || page[0].ID != "7100001" {
		t.Errorf("%d markets, %v", len(page), err)
	}
	for _, garbage := range []string{`{}`, `{"markets":null}`, `{"markets":{"id":[1]}}`, `{"markets":[{"id":5}]}`, `[]`, `{"markets":[`} {
		if _, _, err := setup(t, map[string]string{"/gamma/markets/keyset": garbage}).adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v", garbage, err)
		}
	}
}

func TestQuoteReadsMetadataAndBooksInTwoRequests(t *testing.T) {
	t.Parallel()
	open, child := sample(t, "market_open.json"), sample(t, "market_open_negrisk_child.json")
	proposed := sample(t, "market_provisional_proposed.json")
	list := fmt.Sprintf(`{"markets":[%s,%s,%s]}`, open, child, proposed)
	const token = "75350934332311324234541427377712275198977982957664824366419065486241244037504"
	b := setup(t, map[string]string{"/gamma/markets/keyset": list, "/clob/books": fmt.Sprintf(
		`[{"asset_id":%q,"timestamp":"1","bids":[{"price":"0.3","size":"1"},{"price":"0.41","size":"1"}],"asks":[{"price":"0.43","size":"2"}]}]`, token)})
	got, err := b.adapter.Quote(t.Context(), []string{"7100001", "7100005", "7100007", "7100001", "kalshi-X"})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d markets, %v", len(got), err)
	}
	for _, m := range got {
		want := map[string]int{"7100001": 4200, "7100005": 105, "7100007": 9995}[m.ID]
		if m.YesBps == nil || *m.YesBps != want {
			t.Errorf("%s: %v, want %d", m.ID, m.YesBps, want)
		}
	}
	if q := got[0].Quote; q == nil || q.Yes != 4300 || q.No != 5900 || !q.At.Equal(noon) || q.Rule != "polymarket.book" || len(q.SHA256) != 32 {
		t.Errorf("quote %+v", q)
	}
	if got[1].Quote != nil || got[2].Quote != nil {
		t.Errorf("markets without a book have the quotes %+v, %+v", got[1].Quote, got[2].Quote)
	}
	b.mu.Lock()
	ids, first := b.asked[0].Query()["id"], len(b.asked)
	b.mu.Unlock()
	if len(ids) != 3 || first != 2 {
		t.Errorf("%d requests, the first for %v", first, ids)
	}
	delete(b.answers, "/clob/books")
	if got, err = b.adapter.Quote(t.Context(), []string{"7100001"}); err != nil || *got[0].YesBps != 6150 || got[0].Quote != nil {
		t.Errorf("without the book: %+v, %v", got, err)
	}
	b.mu.Lock()
	if len(b.asked) != first+2 {
		t.Errorf("%d requests for a market whose token is known", len(b.asked)-first)
	}
	b.mu.Unlock()
	many := make([]string, 250)
	for i := range many {
		many[i] = strconv.Itoa(7_200_000 + i)
	}
	b.asked = nil
	if _, err := b.adapter.Quote(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	if len(b.asked) < 3 {
		t.Errorf("250 markets in %d requests", len(b.asked))
	}
}
