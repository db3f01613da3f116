package kalshi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// names are the trade API's names of what the venue's website calls otherwise.
var names = map[string]string{"ticker_name": "ticker", "close_date": "close_time", "open_date": "open_time"}

// website reads recorded events of the venue's website in the form of the
// trade API: titles, states, prices and results are real, names are translated.
func website(t *testing.T, raw []byte) (events []map[string]any, markets map[string]map[string]any) {
	t.Helper()
	var box struct{ Events []map[string]any }
	if err := json.Unmarshal(raw, &box); err != nil {
		t.Fatal(err)
	}
	markets = map[string]map[string]any{}
	for _, e := range box.Events {
		var nested []map[string]any
		for _, r := range e["markets"].([]any) {
			m := map[string]any{"event_ticker": e["ticker"]}
			for name, value := range r.(map[string]any) {
				if ours, ok := names[name]; ok {
					name = ours
				}
				m[name] = value
			}
			if v, ok := m["settlement_value_centicents"].(float64); ok {
				m["settlement_value_dollars"] = fmt.Sprintf("%.4f", v/10_000)
			}
			markets[m["ticker"].(string)] = m
			nested = append(nested, m)
		}
		events = append(events, map[string]any{
			"event_ticker": e["ticker"], "series_ticker": e["series_ticker"], "title": e["title"], "category": e["category"], "markets": nested,
		})
	}
	return events, markets
}

// TestRecordedMarketsSurvive runs over recorded events when they are at hand.
func TestRecordedMarketsSurvive(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("VENUE_RECORDED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "..", "shared", "venues", "recorded")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "kalshi", "website-events.json"))
	if err != nil {
		t.Logf("no recorded material at %s: nothing to check", dir)
		return
	}
	events, markets := website(t, raw)
	list, err := json.Marshal(map[string]any{"events": events, "cursor": ""})
	if err != nil {
		t.Fatal(err)
	}
	f := venuetest.New(t, "/trade-api/v2", map[string]string{"/events": string(list)})
	for ticker, m := range markets {
		one, err := json.Marshal(map[string]any{"market": m})
		if err != nil {
			t.Fatal(err)
		}
		f.Set("/markets/"+ticker, string(one))
	}
	then := time.Date(2026, 2, 6, 0, 0, 0, 0, time.UTC) // just after the recording
	a, err := kalshi.New(kalshi.Config{URL: f.URL, RequestsPerSecond: 1e5}, f.Meter, func() time.Time { return then })
	if err != nil {
		t.Fatal(err)
	}
	open, next, err := a.List(t.Context(), "")
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	statuses, outcomes, lanes, priced := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for ticker, r := range markets {
		m, err := a.Get(t.Context(), "kalshi-"+ticker)
		if err != nil {
			t.Errorf("%s: %v", ticker, err)
			continue
		}
		statuses[m.Status]++
		outcomes[m.Outcome]++
		lanes[m.VenueLane]++
		if m.YesBps != nil {
			priced++
		}
		want := map[any]string{"yes": "YES", "no": "NO", "scalar": "INVALID", "": ""}[r["result"]]
		if syntax.MarketID(m.ID).NativeKey() != ticker || m.Outcome != want || m.Settled != (want != "") || m.Provisional || m.EndDate == nil ||
			m.Volume == nil || m.Question == "" || m.EventTitle == "" || m.YesBps != nil && (*m.YesBps < 0 || *m.YesBps > 10_000) {
			t.Errorf("%s (%v): %+v", ticker, r["result"], m)
		}
	}
	t.Logf("%d markets: %v, %v, %v, %d open in the list, %d priced", len(markets), statuses, outcomes, lanes, len(open), priced)
	if len(markets) != 324 || len(open) != 238 || statuses[venue.Open] != 238 || statuses[venue.Resolved] != 86 || outcomes["INVALID"] != 2 || lanes["OTHER"] != 0 {
		t.Errorf("%d markets, %d listed, %v, %v, %v", len(markets), len(open), statuses, outcomes, lanes)
	}
}
