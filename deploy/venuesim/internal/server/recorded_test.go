package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleKeys finds the recorded markets below a folder and the files that say
// them whole.
func sampleKeys(t *testing.T, folder, key string, inside ...string) map[string]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "market_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v %v", folder, files, err)
	}
	out := map[string]json.RawMessage{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var box map[string]json.RawMessage
		for _, name := range inside {
			if err := json.Unmarshal(raw, &box); err != nil {
				t.Fatal(err)
			}
			raw = box[name]
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := fields[key].(string)
		if _, twice := out[name]; !twice {
			out[name] = raw
		}
	}
	return out
}

// TestRecordedAnswersComeBackWhole plays the samples of each venue and reads
// every market in them.
func TestRecordedAnswersComeBackWhole(t *testing.T) {
	t.Parallel()
	folder := func(name string) string { return filepath.Join("..", name, "testdata") }
	base := start(t, folder("kalshi"), folder("limitless"), folder("manifold"))
	for _, c := range []struct {
		name, key string
		inside    []string
		paths     []string
	}{
		{"kalshi", "ticker", []string{"market"}, []string{"/kalshi/trade-api/v2/markets/", "/kalshi/trade-api/v2/historical/markets/"}},
		{"limitless", "slug", nil, []string{"/limitless/markets/"}},
		{"manifold", "id", nil, []string{"/manifold/v0/market/"}},
	} {
		for key, raw := range sampleKeys(t, folder(c.name), c.key, c.inside...) {
			found := false
			for _, path := range c.paths {
				resp, body := get(t, base+path+key)
				if resp.StatusCode != 200 {
					continue
				}
				for range c.inside {
					body = strings.TrimSuffix(strings.TrimPrefix(body, `{"market":`), "}")
				}
				var want bytes.Buffer
				if err := json.Compact(&want, raw); err != nil {
					t.Fatal(err)
				}
				found = sameJSON(t, body, want.String())
			}
			if !found {
				t.Errorf("%s %s is not as recorded", c.name, key)
			}
		}
	}
	if resp, _ := get(t, base+"/gamma/markets/keyset?limit=1"); resp.StatusCode != 200 {
		t.Errorf("a venue of which nothing was recorded answers %d", resp.StatusCode)
	}
}

func TestARecordedMarketCanBeChanged(t *testing.T) {
	t.Parallel()
	base := start(t, filepath.Join("..", "kalshi", "testdata"), filepath.Join("..", "limitless", "testdata"), filepath.Join("..", "manifold", "testdata"))
	for _, c := range []struct {
		name, id, path, change, member string
		want                           any
	}{
		{"kalshi", "kalshi-KXRIVER-26OCT31-T4.5", "/kalshi/trade-api/v2/markets/KXRIVER-26OCT31-T4.5", `{"state":"resolved","outcome":"NO"}`, "result", "no"},
		{"limitless", "lmt-zed-above-10-on-oct-31-1788264000000", "/limitless/markets/zed-above-10-on-oct-31-1788264000000", `{"state":"resolved","outcome":"NO"}`, "winningOutcomeIndex", 1.0},
		{"manifold", "manifold-q7invented01", "/manifold/v0/market/q7invented01", `{"state":"resolved","outcome":"NO"}`, "resolution", "NO"},
	} {
		if status, v := post(t, base+"/sim/"+c.name+"/markets/"+c.id, c.change); status != 200 {
			t.Fatalf("%s: %d %v", c.id, status, v)
		}
		got := object(t, base+c.path)
		if inner, ok := got["market"].(map[string]any); ok {
			got = inner
		}
		if got[c.member] != c.want {
			t.Errorf("%s: %s is %v, want %v", c.id, c.member, got[c.member], c.want)
		}
		question, _ := got["title"].(string)
		if question == "" {
			question, _ = got["question"].(string)
		}
		if question == "" {
			t.Errorf("%s: the rest of the record is gone: %v", c.id, got)
		}
	}
}

// TestRecordedWebsite plays the lists of Kalshi's website, when they are at
// hand, in the form of its trade API.
func TestRecordedWebsite(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("VENUE_RECORDED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "venues", "recorded")
	}
	if _, err := os.Stat(filepath.Join(dir, "kalshi")); err != nil {
		t.Logf("no recorded material at %s: nothing to play", dir)
		return
	}
	base := start(t, filepath.Join(dir, "kalshi"))
	markets := 0
	for _, e := range object(t, base+"/kalshi/trade-api/v2/events?limit=200&with_nested_markets=true")["events"].([]any) {
		e := e.(map[string]any)
		if e["category"] == "" || e["title"] == "" || e["series_ticker"] == "" {
			t.Errorf("event %v", e)
		}
		list, _ := e["markets"].([]any)
		for _, m := range list {
			m := m.(map[string]any)
			if _, website := m["ticker_name"]; website || m["ticker"] == "" || m["yes_bid_dollars"] == "" || m["event_ticker"] != e["event_ticker"] {
				t.Errorf("market %v", m)
			}
			markets++
		}
	}
	if markets < 200 {
		t.Errorf("%d markets", markets)
	}
}
