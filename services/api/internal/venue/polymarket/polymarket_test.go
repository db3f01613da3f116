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
	"github.com/prometheus/client_golang/prometheus/testutil"

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

func TestOrderBookRecordSettlesWhatTheOracleLeftOpen(t *testing.T) {
	t.Parallel()
	pinned := sample(t, "market_closed_pinned_no_oracle_status.json")
	var head struct{ ConditionID string }
	if err := json.Unmarshal([]byte(pinned), &head); err != nil {
		t.Fatal(err)
	}
	path := "/clob/markets/" + head.ConditionID
	winner := sample(t, "clob_market_winner_for_closed_pinned.json")
	no := strings.NewReplacer(`"winner": true`, `"winner": false`).Replace(winner)
	second := strings.Replace(no, `"price": 0,
      "winner": false`, `"price": 0, "winner": true`, 1)
	half := strings.Replace(no, `"is_50_50_outcome": false`, `"is_50_50_outcome": true`, 1)
	evenPrices := strings.Replace(pinned, `"[\"1\", \"0\"]"`, `"[\"0.5\", \"0.5\"]"`, 1)
	old := strings.Replace(pinned, "2026-10-09 16:10:44+00", "2026-10-03 11:59:59+00", 1)
	oldEven := strings.Replace(evenPrices, "2026-10-09 16:10:44+00", "2021-01-03 11:59:59+00", 1)
	for name, c := range map[string]struct{ market, book, status, outcome string }{
		"winner flag":                         {pinned, winner, "resolved", "YES"},
		"winner on the second":                {pinned, second, "resolved", "NO"},
		"no winner":                           {pinned, no, "closed", ""},
		"book not closed":                     {pinned, strings.Replace(winner, `"closed": true`, `"closed": false`, 1), "closed", ""},
		"half and half, prices disagree":      {pinned, half, "closed", ""},
		"half and half":                       {evenPrices, half, "resolved", "INVALID"},
		"book of another market":              {pinned, strings.Replace(winner, "0x4baae", "0x4baaf", 1), "closed", ""},
		"no book, closed a day":               {pinned, "", "closed", ""},
		"no book, closed eight days":          {old, "", "resolved", "YES"},
		"no book, closed for years, even":     {oldEven, "", "closed", ""},
		"closed for days, but book undecided": {old, no, "closed", ""},
	} {
		more := map[string]string{}
		if c.book != "" {
			more[path] = c.book
		}
		m, err := one(t, c.market, more)
		if err != nil || m.Status != c.status || m.Outcome != c.outcome || m.Provisional != (c.status == "closed") || m.Settled != (c.status == "resolved") {
			t.Errorf("%s: %s %q provisional %v settled %v %v", name, m.Status, m.Outcome, m.Provisional, m.Settled, err)
		}
		if (m.Payout != nil) != (c.outcome != "") {
			t.Errorf("%s: payout %v", name, m.Payout)
		}
	}
}

// edit sets members of the ordinary open sample.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(sample(t, "market_open.json")), &v); err != nil {
		t.Fatal(err)
	}
	for key, value := range changes {
		if value == nil {
			delete(v, key)
			continue
		}
		v[key] = value
	}
	return show(t, v)
}

func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for name, c := range map[string]struct {
		changes                 m
		status, outcome         string
		provisional, challenged bool
	}{
		"plain":                      {m{}, "open", "", false, false},
		"archived beats all":         {m{"archived": true, "closed": true, "umaResolutionStatus": "disputed"}, "unknown", "", false, false},
		"disputed beats closed":      {m{"closed": true, "umaResolutionStatus": "disputed", "outcomePrices": `["1","0"]`}, "closed", "", true, true},
		"proposed while trading":     {m{"umaResolutionStatus": "proposed"}, "closed", "", true, false},
		"a new word":                 {m{"umaResolutionStatus": "reconsidered"}, "closed", "", true, false},
		"resolved in capitals":       {m{"closed": true, "umaResolutionStatus": "Resolved", "outcomePrices": `["0.0009","0.9991"]`}, "resolved", "NO", false, false},
		"resolved beyond tolerance":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0.0011","0.9989"]`}, "closed", "", true, false},
		"resolved without prices":    {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": nil}, "closed", "", true, false},
		"resolved, prices both one":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["1","1"]`}, "closed", "", true, false},
		"resolved but not closed":    {m{"umaResolutionStatus": "resolved", "outcomePrices": `["1","0"]`}, "closed", "", true, false},
		"book off":                   {m{"enableOrderBook": false}, "unknown", "", false, false},
		"book flag missing":          {m{"enableOrderBook": nil}, "unknown", "", false, false},
		"placeholder without tokens": {m{"clobTokenIds": nil, "outcomePrices": nil, "acceptingOrders": false}, "unknown", "", false, false},
		"paused":                     {m{"acceptingOrders": false}, "closed", "", false, false},
		"accepting flag missing":     {m{"acceptingOrders": nil}, "open", "", false, false},
		"inactive is no state":       {m{"active": false}, "open", "", false, false},
		"ends this second":           {m{"endDate": "2026-10-10T12:00:00Z"}, "open", "", true, false},
		"ends next second":           {m{"endDate": "2026-10-10T12:00:01Z"}, "open", "", false, false},
		"no end":                     {m{"endDate": nil}, "open", "", false, false},
		"unreadable end":             {m{"endDate": "whenever"}, "open", "", false, false},
		"second outcome is yes":      {m{"outcomes": `["No","Yes"]`, "closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0","1"]`}, "resolved", "YES", false, false},
	} {
		got, err := one(t, edit(t, c.changes), nil)
		if err != nil || got.Status != c.status || got.Outcome != c.outcome || got.Provisional != c.provisional || got.Disputed != c.challenged {
			t.Errorf("%s: %s %q provisional %v disputed %v %v", name, got.Status, got.Outcome, got.Provisional, got.Disputed, err)
		}
	}
}

func TestPriceOfARecord(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for name, c := range map[string]struct {
		changes m
		want    int // -1: none
	}{
		"outcome price":          {m{}, 6150},
		"half rounds up":         {m{"outcomePrices": `["0.61505","0.38495"]`}, 6151},
		"below half":             {m{"outcomePrices": `["0.61504999","0.38495001"]`}, 6150},
		"numbers, not texts":     {m{"outcomePrices": `[0.25,0.75]`}, 2500},
		"yes is second":          {m{"outcomes": `["No","YES"]`}, 3850},
		"both zero: the book":    {m{"outcomePrices": `["0","0"]`}, 6150},
		"missing: the book":      {m{"outcomePrices": nil, "bestBid": 0.05, "bestAsk": 0.0501}, 501},
		"book, yes second":       {m{"outcomePrices": nil, "outcomes": `["No","Yes"]`, "bestBid": 0.2, "bestAsk": 0.3}, 7500},
		"empty book: last trade": {m{"outcomePrices": nil, "bestBid": 0, "bestAsk": 1, "lastTradePrice": 0.4}, 4000},
		"crossed book":           {m{"outcomePrices": nil, "bestBid": 0.7, "bestAsk": 0.6, "lastTradePrice": 0.4}, 4000},
		"nothing at all":         {m{"outcomePrices": nil, "bestBid": nil, "bestAsk": nil, "lastTradePrice": 0}, -1},
		"negative price":         {m{"outcomePrices": `["-0.5","1.5"]`, "bestBid": nil, "lastTradePrice": 0}, -1},
		"not a number":           {m{"outcomePrices": `["NaN","1"]`, "bestBid": nil, "lastTradePrice": nil}, -1},
		"one price":              {m{"outcomePrices": `["0.5"]`, "bestBid": nil, "lastTradePrice": nil}, -1},
	} {
		got, err := one(t, edit(t, c.changes), nil)
		price := -1
		if got.YesBps != nil {
			price = *got.YesBps
		}
		if err != nil || price != c.want {
			t.Errorf("%s: %d %v, want %d", name, price, err, c.want)
		}
	}
}

func TestUnknownWordsAreCounted(t *testing.T) {
	t.Parallel()
	raw := edit(t, map[string]any{"umaResolutionStatus": "reconsidered"})
	b := setup(t, map[string]string{"/gamma/markets/7100001": raw})
	for range 3 {
		if _, err := b.adapter.Get(t.Context(), "7100001"); err != nil {
			t.Fatal(err)
		}
	}
	want := "# HELP venue_unknown_words_total Status words of venues that no rule knows.\n# TYPE venue_unknown_words_total counter\n" +
		`venue_unknown_words_total{field="umaResolutionStatus",provider="polymarket",word="reconsidered"} 3` + "\n"
	if err := testutil.GatherAndCompare(b.registry, strings.NewReader(want), "venue_unknown_words_total"); err != nil {
		t.Error(err)
	}
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"id":"8","question":"q","closed":false,"outcomes":"[\"Yes\",\"No\"]"}`:    venue.ErrUnavailable, // another market
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

func TestQuoteTakesPricesFromTheBook(t *testing.T) {
	t.Parallel()
	open, child := sample(t, "market_open.json"), sample(t, "market_open_negrisk_child.json")
	proposed := sample(t, "market_provisional_proposed.json")
	list := fmt.Sprintf(`{"markets":[%s,%s,%s]}`, open, child, proposed)
	const token = "75350934332311324234541427377712275198977982957664824366419065486241244037504"
	b := setup(t, map[string]string{"/gamma/markets/keyset": list, "/clob/midpoints": fmt.Sprintf(`{%q:"0.42"}`, token)})
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
	b.mu.Lock()
	ids := b.asked[0].Query()["id"]
	b.mu.Unlock()
	if len(ids) != 3 {
		t.Errorf("asked for %v", ids)
	}
	delete(b.answers, "/clob/midpoints")
	if got, err = b.adapter.Quote(t.Context(), []string{"7100001"}); err != nil || len(got) != 1 || *got[0].YesBps != 6150 {
		t.Errorf("without the book: %d markets, %v", len(got), err)
	}
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
