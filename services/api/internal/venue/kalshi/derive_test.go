package kalshi_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

type m = map[string]any

func TestRulesOfState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes                 m
		status                  string
		provisional, challenged bool
	}{
		"active":                      {m{}, "open", false, false},
		"active in capitals":          {m{"status": " Active "}, "open", false, false},
		"closes this second":          {m{"close_time": "2026-10-10T12:00:00Z"}, "closed", false, false},
		"closes next second":          {m{"close_time": "2026-10-10T12:00:01Z"}, "open", false, false},
		"no close time":               {m{"close_time": nil}, "unknown", false, false},
		"unreadable close time":       {m{"close_time": "whenever"}, "unknown", false, false},
		"not open yet":                {m{"status": "initialized"}, "unknown", false, false},
		"paused":                      {m{"status": "inactive"}, "closed", false, false},
		"closed":                      {m{"status": "closed"}, "closed", false, false},
		"determined":                  {m{"status": "determined", "result": "yes"}, "closed", true, false},
		"amended":                     {m{"status": "amended", "result": "no"}, "closed", true, false},
		"disputed":                    {m{"status": "disputed", "result": "yes"}, "closed", true, true},
		"a word of the filter":        {m{"status": "settled", "result": "yes"}, "unknown", false, false},
		"a word of the filter, open":  {m{"status": "open"}, "unknown", false, false},
		"a new word":                  {m{"status": "reviewing"}, "unknown", false, false},
		"result without the end word": {m{"result": "yes", "settlement_value_dollars": "1.0000"}, "open", false, false},
	} {
		got, err := one(t, edit(t, c.changes))
		if err != nil || got.Status != c.status || got.Provisional != c.provisional || got.Disputed != c.challenged ||
			got.Outcome != "" || got.Settled || got.Payout != nil {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestRulesOfOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result, value           any
		status, outcome, payout string
	}{
		"yes":                    {"yes", "1.0000", "resolved", "YES", "1"},
		"no":                     {"no", "0.0000", "resolved", "NO", "0"},
		"yes in capitals":        {"Yes", nil, "resolved", "YES", "1"},
		"blank, one":             {"", "1.0000", "resolved", "YES", "1"},
		"blank, zero":            {"", "0.000000", "resolved", "NO", "0"},
		"no member, zero":        {nil, "0", "resolved", "NO", "0"},
		"blank, a number":        {"", 0.5, "resolved", "INVALID", "0.5"},
		"blank, nothing":         {"", nil, "resolved", "INVALID", ""},
		"a tie":                  {"scalar", "0.5000", "resolved", "INVALID", "0.5"},
		"a fraction":             {"scalar", "0.2400", "resolved", "INVALID", "0.24"},
		"six decimals":           {"scalar", "0.123456", "resolved", "INVALID", "0.123456"},
		"scalar, in full":        {"scalar", "1.0000", "resolved", "YES", "1"},
		"void":                   {"void", nil, "resolved", "INVALID", ""},
		"void pays nothing back": {"void", "0.0000", "resolved", "INVALID", "0"},
		"near one is not one":    {"scalar", "0.9999", "resolved", "INVALID", "0.9999"},
		"above one":              {"scalar", "1.0001", "closed", "", ""},
		"below zero":             {"", "-0.5", "closed", "", ""},
		"no number":              {"scalar", "NaN", "closed", "", ""},
		"a new word":             {"split", "0.5000", "unknown", "", ""},
	} {
		got, err := one(t, edit(t, m{
			"status": "finalized", "result": c.result, "settlement_value_dollars": c.value, "close_time": "2026-09-30T18:19:39Z",
		}))
		payout := ""
		if got.Payout != nil {
			payout = *got.Payout
		}
		if err != nil || got.Status != c.status || got.Outcome != c.outcome || payout != c.payout ||
			got.Settled != (c.outcome != "") || got.Provisional != (c.status == "closed") {
			t.Errorf("%s: %s %q payout %q settled %v provisional %v %v", name, got.Status, got.Outcome, payout, got.Settled, got.Provisional, err)
		}
		if got.ClosedAt == nil || !got.ClosedAt.Equal(*got.EndDate) {
			t.Errorf("%s: closed at %v", name, got.ClosedAt)
		}
	}
}

func TestPriceOfARecord(t *testing.T) {
	t.Parallel()
	quote := func(bid, ask, last any) m {
		return m{"yes_bid_dollars": bid, "yes_ask_dollars": ask, "last_price_dollars": last}
	}
	for name, c := range map[string]struct {
		changes m
		want    int // -1: none
	}{
		"middle":                   {quote("0.4100", "0.4300", "0.9000"), 4200},
		"half rounds up":           {quote("0.4100", "0.4101", nil), 4101},
		"sub-cent":                 {quote("0.012500", "0.013500", nil), 130},
		"widest that counts":       {quote("0.4000", "0.5000", "0.1000"), 4500},
		"too wide":                 {quote("0.4000", "0.5001", "0.1000"), 1000},
		"no bid":                   {quote("0.0000", "0.0500", "0.0400"), 400},
		"no ask":                   {quote("0.9700", "1.0000", "0.9800"), 9800},
		"crossed":                  {quote("0.5000", "0.4900", "0.4800"), 4800},
		"empty book, never traded": {quote("0.0000", "1.0000", "0.0000"), -1},
		"wide, never traded":       {quote("0.0500", "0.6000", "0.0000"), -1},
		"nothing":                  {quote(nil, nil, nil), -1},
		"numbers, not texts":       {quote(0.41, 0.43, nil), 4200},
		"last above one":           {quote(nil, nil, "1.2"), -1},
		"last below zero":          {quote(nil, nil, "-0.2"), -1},
		"not numbers":              {quote("x", "0.43", "NaN"), -1},
		"whole cents are retired":  {m{"yes_bid": 41, "yes_ask": 43, "last_price": 42, "yes_bid_dollars": nil, "yes_ask_dollars": nil, "last_price_dollars": nil}, -1},
	} {
		got, err := one(t, edit(t, c.changes))
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
	b := setup(t, map[string]string{
		"/markets/KXRIVER-26OCT31-T4.5": edit(t, m{"status": "reviewing"}),
		"/events/KXRIVER-26OCT31":       `{"event":{"event_ticker":"KXRIVER-26OCT31","category":"Oddities"}}`,
	})
	for range 3 {
		if _, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5"); err != nil {
			t.Fatal(err)
		}
	}
	b.Set("/markets/KXRIVER-26OCT31-T4.5", edit(t, m{"status": "finalized", "result": "split"}))
	if _, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5"); err != nil {
		t.Fatal(err)
	}
	const name = "venue_unknown_words_total"
	if b.Counted(name, "kalshi", "status", "reviewing") != 3 || b.Counted(name, "result", "split") != 1 || b.Counted(name, "category", "oddities") != 4 {
		t.Errorf("%v %v %v", b.Counted(name, "reviewing"), b.Counted(name, "split"), b.Counted(name, "oddities"))
	}
}

func TestWordsOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes m
		want    string
	}{
		"contained in the title": {m{"title": "Above 4.5 m?", "yes_sub_title": "above 4.5 M"}, "Above 4.5 m?"},
		"tells candidates apart": {m{"title": "Who wins?", "yes_sub_title": "Ada Quill"}, "Who wins? – Ada Quill"},
		"no sub title":           {m{"title": "Who wins?", "yes_sub_title": nil}, "Who wins?"},
		"no title":               {m{"title": nil, "yes_sub_title": "Ada Quill"}, "Invented river gauge on Oct 31, 2026 – Ada Quill"},
		"markup":                 {m{"title": "<b>Who</b> wins?", "yes_sub_title": ""}, "Who wins?"},
	} {
		b := setup(t, map[string]string{
			"/markets/KXRIVER-26OCT31-T4.5": edit(t, c.changes),
			"/events/KXRIVER-26OCT31":       `{"event":{"event_ticker":"KXRIVER-26OCT31","title":"Invented river gauge on Oct 31, 2026"}}`,
		})
		got, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5")
		if err != nil || got.Question != c.want || got.Description == "" || got.EventTitle == "" || got.EventKey != "KXRIVER-26OCT31" {
			t.Errorf("%s: %q %q %v", name, got.Question, got.Description, err)
		}
	}
}

func TestEventAndSeriesTellTheLane(t *testing.T) {
	t.Parallel()
	event := func(category string) string {
		return `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXRIVER","title":"Gauge","category":"` + category + `"},"markets":[]}`
	}
	for category, want := range map[string]string{
		"Politics": "POLITICS", "Elections": "POLITICS", "World": "WORLD", "Crypto": "CRYPTO", "Sports": "SPORT", "Social": "CULTURE",
		"Mentions": "CULTURE", "Science and Technology": "TECH", "Climate and Weather": "SCIENCE", "Health": "SCIENCE", "Economics": "ECONOMY",
		"Financials": "ECONOMY", "Companies": "ECONOMY", "Commodities": "ECONOMY", "Transportation": "OTHER", "Exotics": "OTHER", "": "OTHER",
	} {
		b := setup(t, map[string]string{"/markets/KXRIVER-26OCT31-T4.5": venuetest.Sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": event(category)})
		got, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5")
		if err != nil || got.VenueLane != want {
			t.Errorf("%q: %s %v, want %s", category, got.VenueLane, err, want)
		}
	}
	for tags, want := range map[string]string{`["Music","Awards"]`: "MUSIC", `["Awards"]`: "ENTERTAINMENT", `null`: "ENTERTAINMENT", `[7]`: "ENTERTAINMENT"} {
		b := setup(t, map[string]string{
			"/markets/KXRIVER-26OCT31-T4.5": venuetest.Sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": event("Entertainment"),
			"/series/KXRIVER": `{"series":{"tags":` + tags + `}}`,
		})
		for range 2 {
			got, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5")
			if err != nil || got.VenueLane != want || got.ProofURL != "https://kalshi.com/markets/kxriver" {
				t.Errorf("%s: %s %s %v, want %s", tags, got.VenueLane, got.ProofURL, err, want)
			}
		}
		if got := b.Paths(); len(got) != 4 || !slices.Contains(got, "/series/KXRIVER") {
			t.Errorf("event and series are to be asked for once: %v", got)
		}
	}
}

func TestProofOfAResult(t *testing.T) {
	t.Parallel()
	const ticker = "KXRIVER-26SEP30-T4.5"
	answers := map[string]string{
		"/historical/markets/" + ticker: venuetest.Sample(t, "market_resolved_yes.json"),
		"/events/KXRIVER-26SEP30":       `{"event":{"event_ticker":"KXRIVER-26SEP30","series_ticker":"KXRIVER","category":"World"}}`,
	}
	got, err := setup(t, answers).adapter.Get(t.Context(), "kalshi-"+ticker)
	if err != nil || got.Outcome != "YES" || got.ProofURL != "https://kalshi.com/markets/kxriver" {
		t.Errorf("without the series: %+v %v", got, err)
	}
	answers["/series/KXRIVER"] = venuetest.Sample(t, "series_single.json")
	b := setup(t, answers)
	if got, err = b.adapter.Get(t.Context(), "kalshi-"+ticker); err != nil || got.ProofURL != "https://gauge.example.test/readings" {
		t.Errorf("%q %v", got.ProofURL, err)
	}
	want := []string{"/markets/" + ticker, "/historical/markets/" + ticker, "/events/KXRIVER-26SEP30", "/series/KXRIVER"}
	if asked := b.Paths(); !slices.Equal(asked, want) {
		t.Errorf("asked %v", asked)
	}
	for _, bad := range []string{"javascript:alert(1)", "http://gauge.example.test/", "https:///readings", "https://" + strings.Repeat("x", 500)} {
		answers["/series/KXRIVER"] = `{"series":{"settlement_sources":[{"url":"` + bad + `"}]}}`
		if got, err = setup(t, answers).adapter.Get(t.Context(), "kalshi-"+ticker); err != nil || got.ProofURL != "https://kalshi.com/markets/kxriver" {
			t.Errorf("%q %v", got.ProofURL, err)
		}
	}
	if _, err := venue.Port(b.adapter).Get(t.Context(), "kalshi-"+ticker); err != nil {
		t.Error(err)
	}
}

func TestAMarketDoesNotWaitForItsEvent(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/markets/"+river {
			<-hold
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(venuetest.Sample(t, "market_open.json")))
	}))
	t.Cleanup(func() { close(hold); srv.Close() })
	a, err := kalshi.New(kalshi.Config{URL: srv.URL, RequestsPerSecond: 1000}, venue.NewMeter(prometheus.NewRegistry()), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got, err := a.Get(t.Context(), "kalshi-"+river)
	if took := time.Since(start); err != nil || got.Status != venue.Open || took > 2*time.Second {
		t.Errorf("%s after %v, %v", got.Status, took, err)
	}
}

func TestAnEventThatIsMissingIsAskedForOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"/markets/" + river: venuetest.Sample(t, "market_open.json")})
	for range 3 {
		if got, err := b.adapter.Get(t.Context(), "kalshi-"+river); err != nil || got.VenueLane != "OTHER" || got.ProofURL != "" {
			t.Errorf("%+v %v", got, err)
		}
	}
	if asked := b.Paths(); len(asked) != 4 {
		t.Errorf("asked %v", asked)
	}
	b = setup(t, map[string]string{"/markets/" + river: venuetest.Sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXOTHER","category":"World"}}`})
	if got, err := b.adapter.Get(t.Context(), "kalshi-"+river); err != nil || got.VenueLane != "OTHER" {
		t.Errorf("the event of another market: %+v %v", got, err)
	}
	b.Set("/events/KXRIVER-26OCT31", riverEvent)
	if got, err := b.adapter.Get(t.Context(), "kalshi-"+river); err != nil || got.VenueLane != "WORLD" {
		t.Errorf("an answer of no use is not kept: %+v %v", got, err)
	}
}
