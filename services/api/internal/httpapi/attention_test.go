package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAttentionErrors checks the errors of the routes for the attention of one market. Market 3 is unknown to them, because it
// opened after the markets were last read.
func TestAttentionErrors(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, noRelay: true})
	b.market("3", "SCIENCE")
	for path, want := range map[string]string{
		"/api/aura/score":                                    "400 missing_market",
		"/api/aura/score?marketId=":                          "400 missing_market",
		"/api/aura/score?marketId=polymarket:701122":         "404 not_found",
		"/api/aura/score?marketId=%00":                       "404 not_found",
		"/api/aura/score?marketId=404":                       "404 not_found",
		"/api/aura/history":                                  "400 missing_market",
		"/api/aura/history?window=1h":                        "400 missing_market",
		"/api/aura/history?marketId=polymarket:701122":       `200 {"marketId":"polymarket:701122","points":[]}`,
		"/api/aura/history?marketId=404":                     `200 {"marketId":"404","points":[]}`,
		"/api/v1/oracle/markets/404":                         "404 not_found",
		"/api/v1/oracle/markets/polymarket:701122":           "404 not_found",
		"/api/v1/oracle/markets/kalshi-..%2Fx":               "404 not_found",
		"/api/v1/oracle/markets/" + strings.Repeat("9", 200): "404 not_found",
	} {
		t.Run(path, func(t *testing.T) {
			got := b.get(path)
			line := fmt.Sprint(got.status, " ", got.body["error"])
			if got.status == 200 {
				line = fmt.Sprint(got.status, " ", string(got.raw))
			} else if got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("an error is cached: %q", got.header.Get("Cache-Control"))
			}
			if line != want || got.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("got %s, want %s (headers %v)", line, want, got.header)
			}
		})
	}
	if got := b.get("/api/v1/oracle/markets/3"); got.status != 200 || got.body["attention"] != nil || got.body["market"] == nil {
		t.Errorf("market without a score: %d %s", got.status, got.raw)
	}
}

// TestAttentionOfTheLedger checks the attention scores that are computed from stored markets, and the answers while the
// database is unavailable.
func TestAttentionOfTheLedger(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, noRelay: true})
	b.market("701122", "SCIENCE")
	b.market("701123", "TECH")
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume_usd, volume24h) VALUES ('701122', 3150, now(), 5000, 412000)`)
	b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ('701122', now() - interval '24 hours', 4250)`)
	b.exec(`INSERT INTO api.market_totals (market_id, yes, no, crowd_yes, crowd_no) VALUES ('701122', 5, 6, 3, 1)`)
	b.exec(`INSERT INTO api.attention_scores (market_id, at, score) VALUES ('701122', now() - interval '2 hours', 30)`)
	if err := b.oracle.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, _ := b.get("/api/v1/signals/external").body["signals"].([]any)
	if len(rows) != 2 {
		t.Fatal(rows)
	}
	row := rows[0].(map[string]any)
	if row["marketId"] != "701122" || row["attention"] != 35.0 || row["attentionDelta"] != 5.0 || row["yesPct"] != 31.5 || row["url"] != "https://hub.example/m/701122" {
		t.Errorf("first market %v", row)
	}
	if got := b.get("/api/aura/score?marketId=701123"); got.status != 200 || got.body["score"] != 0.0 || got.body["rank"] != 2.0 {
		t.Errorf("a market without any activity: %s", got.raw)
	}
	points, _ := b.get("/api/aura/history?marketId=701122&window=1h").body["points"].([]any)
	if len(points) != 2 || points[0].(map[string]any)["score"] != 30.0 || points[1].(map[string]any)["score"] != 35.0 {
		t.Errorf("history %v, want scores 30 and 35", points)
	}
	one := b.get("/api/v1/oracle/markets/701122")
	crowd, _ := one.body["crowd"].(map[string]any)
	if one.status != 200 || crowd["yesPercent"] != 75.0 || crowd["totalSignals"] != 4.0 || one.body["resolution"] != nil {
		t.Errorf("one market: %s", one.raw)
	}
	if got := b.get("/api/v1/oracle/markets/999"); got.status != 404 {
		t.Errorf("unknown market: %d, want 404", got.status)
	}
	b.rw.Close()
	if err := b.oracle.Refresh(t.Context()); err == nil {
		t.Error("Refresh succeeded without a database")
	}
	for path, want := range map[string]string{
		"/api/aura/score?marketId=701122":  "200 <nil>", // cached
		"/api/aura/score?marketId=5":       "503 db_unavailable",
		"/api/v1/oracle/markets/701123":    "503 db_unavailable",
		"/api/v1/oracle/markets/998":       "503 db_unavailable",
		"/api/aura/history?marketId=70112": "200 <nil>",
		"/api/aura/top":                    "200 <nil>",
	} {
		if got := b.get(path); fmt.Sprint(got.status, " ", got.body["error"]) != want {
			t.Errorf("%s: %d %s, want %s", path, got.status, got.raw, want)
		}
	}
}
