package kalshi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func ids(list []venue.Market) string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimPrefix(m.ID, "kalshi-"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestListWalksTheEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"/events": venuetest.Sample(t, "events_page1.json")})
	page, next, err := b.adapter.List(t.Context(), "")
	if err != nil || ids(page) != "KXLANTERN-27-AQ KXLANTERN-27-BR KXLANTERN-27-ZN" || next == "" {
		t.Fatalf("%s, next %q, %v", ids(page), next, err)
	}
	for i := range page {
		if page[i].VenueLane != "ENTERTAINMENT" || page[i].EventTitle != "Who wins the 2027 Lantern Prize?" || page[i].EventKey != "KXLANTERN-27" {
			t.Errorf("%+v", page[i])
		}
	}
	if got := b.Paths()[0]; got != "/events?limit=100&status=open&with_nested_markets=true" {
		t.Errorf("first page asked with %s", got)
	}
	_, after, _ := strings.Cut(next, ":")
	b.Set("/events", venuetest.Sample(t, "events_page2_last.json"))
	page, next, err = b.adapter.List(t.Context(), next)
	if err != nil || ids(page) != "KXRIVER-26OCT31-T4.5" || next != "" {
		t.Fatalf("%s, next %q, %v", ids(page), next, err)
	}
	if got := b.Paths(); got[len(got)-1] != "/events?cursor="+url.QueryEscape(after)+"&limit=100&status=open&with_nested_markets=true" {
		t.Errorf("second page asked with %v", got)
	}
}

func TestReadsOfOneMarketAgree(t *testing.T) {
	t.Parallel()
	const ticker = "KXRIVER-26OCT31-T4.5"
	b := setup(t, map[string]string{
		"/events": venuetest.Sample(t, "events_page2_last.json"), "/markets": venuetest.Sample(t, "markets_page1.json"), "/markets/" + ticker: venuetest.Sample(t, "market_open.json"),
		"/events/KXRIVER-26OCT31": strings.Replace(venuetest.Sample(t, "event_single_nested.json"), "KXLANTERN-27", "KXRIVER-26OCT31", 1),
	})
	listed, _, err1 := b.adapter.List(t.Context(), "")
	quoted, err2 := b.adapter.Quote(t.Context(), []string{"kalshi-" + ticker})
	got, err3 := b.adapter.Get(t.Context(), "kalshi-"+ticker)
	if err := errors.Join(err1, err2, err3); err != nil || len(listed) != 1 || len(quoted) != 1 {
		t.Fatalf("%d %d %v", len(listed), len(quoted), err)
	}
	// The stored row is written whenever one of these differs.
	if a, b, c := fmt.Sprint(venuetest.Members(t, &listed[0], ""), listed[0].Question, listed[0].Description, listed[0].Tags, listed[0].EventTitle),
		fmt.Sprint(venuetest.Members(t, &quoted[0], ""), quoted[0].Question, quoted[0].Description, quoted[0].Tags, quoted[0].EventTitle),
		fmt.Sprint(venuetest.Members(t, &got, ""), got.Question, got.Description, got.Tags, got.EventTitle); a != b || b != c {
		t.Errorf("listed %s\nquoted %s\n   got %s", a, b, c)
	}
	if got.VenueLane != "SCIENCE" {
		t.Errorf("%+v", got)
	}
	if asked := b.Paths(); len(asked) != 3 {
		t.Errorf("an event that was listed was asked for: %v", asked)
	}
}

func TestEveryWalkEnds(t *testing.T) {
	t.Parallel()
	walk := func(a *kalshi.Adapter) (pages int) {
		cursor := ""
		for {
			_, next, err := a.List(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			if pages++; next == "" || pages > 5000 {
				return pages
			}
			cursor = next
		}
	}
	page := `{"events":[{"event_ticker":"KXA","markets":[{"ticker":"KXB","status":"active","close_time":"2027-01-01T00:00:00Z"}]}],"cursor":%q}`
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"a cursor that repeats":   {fmt.Sprintf(page, "again"), 2},
		"an empty page":           {`{"events":[],"cursor":"more"}`, 1},
		"events without a market": {`{"events":[{"event_ticker":"KXA"}],"cursor":"again"}`, 2},
		"no cursor":               {`{"events":[{"event_ticker":"KXA"}]}`, 1},
	} {
		if n := walk(setup(t, map[string]string{"/events": c.body}).adapter); n != c.want {
			t.Errorf("%s: %d pages, want %d", name, n, c.want)
		}
	}
	turns := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		turns++
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, page, fmt.Sprintf("c%d", turns))
	}))
	defer srv.Close()
	a, err := kalshi.New(kalshi.Config{URL: srv.URL, RequestsPerSecond: 1e6}, venue.NewMeter(prometheus.NewRegistry()), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if n := walk(a); n != 1000 {
		t.Errorf("a list without end was followed for %d pages", n)
	}
	for _, bad := range []string{"x", "1", "0:c", "-1:c", "1000:c", "1:"} {
		if _, _, err := a.List(t.Context(), bad); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestOneBadRecordDoesNotSpoilAPage(t *testing.T) {
	t.Parallel()
	good := `{"ticker":"KXB","status":"active","close_time":"2027-01-01T00:00:00Z"}`
	combo := `{"ticker":"KXMVE-1","status":"active","close_time":"2027-01-01T00:00:00Z"}`
	b := setup(t, map[string]string{"/events": fmt.Sprintf(`{"events":[7,{"event_ticker":"../x"},{"event_ticker":"KXA","markets":[{"ticker":5},%s,%s]}]}`, good, combo)})
	page, _, err := b.adapter.List(t.Context(), "")
	if err != nil || ids(page) != "KXB" {
		t.Errorf("%s, %v", ids(page), err)
	}
	const name = "venue_dropped_records_total"
	if b.Counted(name, "undecodable_event") != 2 || b.Counted(name, "undecodable") != 1 || b.Counted(name, "combination") != 1 {
		t.Error("what was dropped is not counted")
	}
	for _, garbage := range []string{`{}`, `{"events":null}`, `{"events":{"a":1}}`, `{"events":[5]}`, `{"events":[{"event_ticker":"KXA","markets":[{"ticker":5}]}]}`, `[]`, `{"events":[`} {
		if _, _, err := setup(t, map[string]string{"/events": garbage}).adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v", garbage, err)
		}
		if _, err := setup(t, map[string]string{"/markets": strings.ReplaceAll(garbage, "events", "markets")}).adapter.Quote(t.Context(), []string{"kalshi-KXB"}); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("quote, %s: %v", garbage, err)
		}
	}
}

func TestQuoteReadsManyAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"/markets": venuetest.Sample(t, "markets_page2_last.json")})
	got, err := b.adapter.Quote(t.Context(), []string{
		"kalshi-KXLANTERN-27-ZN", "kalshi-KXGRAIN-26NOV-B2.5", "kalshi-KXRIVER-26OCT31-T5.0", "kalshi-KXLANTERN-27-ZN", "7100001", "lmt-x",
	})
	if err != nil || ids(got) != "KXGRAIN-26NOV-B2.5 KXLANTERN-27-ZN KXRIVER-26OCT31-T5.0" {
		t.Fatalf("%s, %v", ids(got), err)
	}
	for _, m := range got {
		if paused := m.ID == "kalshi-KXRIVER-26OCT31-T5.0"; paused != (m.Status == venue.Closed) || paused && m.Quote != nil {
			t.Errorf("%s is %s with quote %+v", m.ID, m.Status, m.Quote)
		}
	}
	if asked := b.Paths()[0]; asked != "/markets?limit=1000&tickers=KXLANTERN-27-ZN%2CKXGRAIN-26NOV-B2.5%2CKXRIVER-26OCT31-T5.0" {
		t.Errorf("asked %s", asked)
	}
	if got, err = b.adapter.Quote(t.Context(), []string{"kalshi-KXOTHER"}); err != nil || len(got) != 0 {
		t.Errorf("what was not asked for: %s %v", ids(got), err)
	}
	var cold []string
	var records []string
	for i := range 30 { // each of an event of its own
		cold = append(cold, fmt.Sprintf("kalshi-KX%d", i))
		records = append(records, fmt.Sprintf(`{"ticker":"KX%d","event_ticker":"KXE%d","status":"active","close_time":"2027-01-01T00:00:00Z"}`, i, i))
	}
	b = setup(t, map[string]string{"/markets": `{"markets":[` + strings.Join(records, ",") + `]}`})
	if got, err = b.adapter.Quote(t.Context(), cold); err != nil || len(got) != 30 || len(b.Paths()) != 21 {
		t.Errorf("%d markets after %d requests, %v", len(got), len(b.Paths()), err)
	}
	b = setup(t, map[string]string{"/markets": `{"markets":[],"cursor":""}`})
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("kalshi-KX%d", i)
	}
	if got, err = b.adapter.Quote(t.Context(), many); err != nil || len(got) != 0 || len(b.Paths()) != 3 {
		t.Errorf("250 markets in %d requests, %v", len(b.Paths()), err)
	}
}
