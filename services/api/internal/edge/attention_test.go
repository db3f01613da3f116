package edge_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/edge"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/wire"
)

// around answers what is known around markets with fixed rows; while err is set
// its source is away. It knows 701122, which is open, and 2, which is settled.
type around struct {
	err   error
	asked []string
}

func (a *around) row() oracle.Row {
	f := &oracle.Fact{}
	yes, volume := syntax.Bps(3150), 412_000.0
	f.ID, f.Provider, f.Title, f.Lane, f.Yes, f.PricedAt, f.Volume24h = "701122", syntax.Polymarket, "Above 6 m?", syntax.LaneScience, &yes, noon.Add(-10*time.Minute), &volume
	return oracle.Row{Fact: f, Score: 56, Rank: 1, Percentile: 97, Delta: -4, Parts: oracle.Weigh(412_000, 1100, 9, 37, 3)}
}

func (a *around) Top(_ context.Context, lane syntax.Lane, limit int) ([]oracle.Row, time.Time, error) {
	a.asked = append(a.asked, fmt.Sprintf("%q %d", lane, limit))
	old := a.row()
	f := *old.Fact
	f.PricedAt, f.Volume24h, f.ID, f.Provider = noon.Add(-11*time.Minute), nil, "kalshi-x", syntax.Kalshi
	old.Fact, old.Rank, old.Delta = &f, 2, 0
	return []oracle.Row{a.row(), old}, noon.Add(-time.Minute), a.err
}

func (a *around) Moves(context.Context, syntax.Window, syntax.Lane, int) ([]wire.Move, time.Time, error) {
	return nil, noon, a.err
}

func (a *around) Score(_ context.Context, id syntax.MarketID) (oracle.Row, time.Time, error) {
	a.asked = append(a.asked, "score "+string(id))
	if a.err == nil && id != "701122" {
		return oracle.Row{}, time.Time{}, oracle.ErrNotFound
	}
	return a.row(), noon.Add(-time.Minute), a.err
}

func (a *around) History(_ context.Context, id syntax.MarketID, span time.Duration) ([]oracle.Point, error) {
	a.asked = append(a.asked, fmt.Sprintf("history %s %s", id, span))
	if id != "701122" {
		return nil, a.err
	}
	return []oracle.Point{{At: noon.Add(-time.Hour), Score: 60}, {At: noon.Add(-time.Minute), Score: 56}}, a.err
}

func (a *around) Get(_ context.Context, id syntax.MarketID) (market.Market, error) {
	if a.err != nil {
		return market.Market{}, a.err
	}
	yes, volume, end := syntax.Bps(3150), 182_000.0, noon.Add(48*time.Hour)
	m := market.Market{
		ID: id, Provider: syntax.Polymarket, Title: "Above 6 m?", Status: syntax.MarketOpen, Lane: syntax.LaneScience, EventKey: "flood",
		Yes: &yes, VolumeUSD: &volume, EndDate: &end, UpdatedAt: noon, CrowdYes: 1, CrowdNo: 2, YesCount: 9, NoCount: 9, ClobTokenID: "7132",
	}
	switch id {
	case "2":
		no := syntax.VerdictNo
		m.Status, m.Verdict, m.Yes, m.CrowdYes, m.CrowdNo, m.URL = syntax.MarketResolved, &no, nil, 0, 0, "https://venue.example/x"
	case "701122", "3":
	default:
		return market.Market{}, market.ErrNotFound
	}
	return m, nil
}

func (a *around) Outcome(_ context.Context, id string) (resolve.Outcome, bool, error) {
	if id != "2" {
		return resolve.Outcome{}, false, a.err
	}
	no, who, at := syntax.VerdictNo, "oracle", noon.Add(-time.Hour)
	return resolve.Outcome{Verdict: &no, Resolver: &who, Source: &who, ResolvedAt: &at}, true, a.err
}

func setupAround(t *testing.T) (*bundle, *around, *testkit.Clock) {
	t.Helper()
	a, clock := &around{}, testkit.NewClock(noon)
	return setup(t, options{memory: 1, change: func(d *edge.Deps) { d.Oracle, d.Markets, d.Outcomes, d.Now = a, a, a, clock.Now }}), a, clock
}

func TestAttentionShapes(t *testing.T) {
	t.Parallel()
	b, a, _ := setupAround(t)
	for _, c := range []struct{ path, golden, asked string }{
		{"/api/v1/signals/external?lane=science&limit=500", "external.json", `"SCIENCE" 100`},
		{"/api/aura/top?lane=moon&limit=0", "aura_top.json", `"" 20`},
		{"/api/aura/score?marketId=701122", "aura_score.json", "score 701122"},
		{"/api/aura/history?marketId=701122&window=7d", "aura_history.json", "history 701122 168h0m0s"},
		{"/api/v1/oracle/markets/701122", "oracle_market.json", "score 701122"},
		{"/api/v1/oracle/markets/2", "oracle_resolved.json", ""},
	} {
		a.asked = nil
		got := b.get(c.path)
		testkit.Golden(t, c.golden, got.raw)
		if asked := strings.Join(a.asked, ","); asked != c.asked {
			t.Errorf("%s asked %q, want %q", c.path, asked, c.asked)
		}
		cache := "public, s-maxage=30"
		if strings.HasPrefix(c.path, "/api/v1/oracle/") {
			cache += ", stale-while-revalidate=60"
		}
		if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Cache-Control") != cache {
			t.Errorf("%s: %d %v", c.path, got.status, got.header)
		}
		// The same again is answered from the ready page, by the front as well.
		again := b.get(c.path+map[bool]string{true: "&x=1", false: "?x=1"}[strings.Contains(c.path, "?")], "If-None-Match", got.header.Get("Etag"))
		if again.status != http.StatusNotModified || strings.Join(a.asked, ",") != c.asked || again.header.Get("Cache-Control") != cache || again.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s again: %d, asked %q", c.path, again.status, a.asked)
		}
		if refused := b.get(c.path, "Authorization", "Bearer dk_"+strings.Repeat("A", 43)); refused.status != 401 {
			t.Errorf("%s with a credential: %d", c.path, refused.status)
		}
	}
}

func TestAttentionWindows(t *testing.T) {
	t.Parallel()
	b, a, _ := setupAround(t)
	for window, want := range map[string]string{"15m": "15m0s", "1h": "1h0m0s", "6h": "6h0m0s", "24h": "24h0m0s", "7d": "168h0m0s"} {
		a.asked = nil
		if b.get("/api/aura/history?marketId=701122&window=" + window); fmt.Sprint(a.asked) != "[history 701122 "+want+"]" {
			t.Errorf("%s: %v", window, a.asked)
		}
	}
	a.asked = nil
	b.get("/api/aura/history?marketId=3&window=1y")
	b.get("/api/aura/history?marketId=3") // the same in other words
	if fmt.Sprint(a.asked) != "[history 3 24h0m0s]" {
		t.Error(a.asked)
	}
}

// Each error of these routes; 3 is a market that opened a moment ago.
func TestAttentionErrors(t *testing.T) {
	t.Parallel()
	b, a, clock := setupAround(t)
	const from = "200 "
	check := func(path, want string) {
		t.Helper()
		got := b.get(path)
		line := fmt.Sprint(got.status, " ", got.body["error"])
		if strings.HasPrefix(want, from) {
			line = fmt.Sprint(got.status, " ", string(got.raw))
		}
		if line != want || got.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s, want %s (%v)", path, line, want, got.header)
		}
		if got.status >= 400 && got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %q is kept", path, got.header.Get("Cache-Control"))
		}
	}
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
		check(path, want)
	}
	if got := b.get("/api/v1/oracle/markets/3"); got.status != 200 || got.body["attention"] != nil || got.body["market"] == nil {
		t.Errorf("not scored yet: %d %s", got.status, got.raw)
	}
	a.err = pg.ErrUnavailable
	clock.Advance(time.Minute)
	const now = "2026-09-18T12:01:00.000Z"
	for path, want := range map[string]string{
		"/api/aura/score?marketId=701122":   "503 db_unavailable",
		"/api/aura/score?marketId=5":        "503 db_unavailable",
		"/api/v1/oracle/markets/701122":     "503 db_unavailable",
		"/api/v1/oracle/markets/5":          "503 db_unavailable",
		"/api/v1/signals/external":          `200 {"signals":[],"count":0,"updatedAt":"` + now + `"}`,
		"/api/aura/top":                     `200 {"markets":[],"updatedAt":"` + now + `"}`,
		"/api/aura/history?marketId=701122": `200 {"marketId":"701122","points":[]}`,
	} {
		check(path, want)
		if strings.HasPrefix(want, from) {
			if got := b.get(path); got.header.Get("X-Degraded") != "db" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, got.header)
			}
		}
	}
}

// From the tables to the answers, and without them.
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
		t.Errorf("%v", row)
	}
	if got := b.get("/api/aura/score?marketId=701123"); got.status != 200 || got.body["score"] != 0.0 || got.body["rank"] != 2.0 {
		t.Errorf("a market without anything: %s", got.raw)
	}
	points, _ := b.get("/api/aura/history?marketId=701122&window=1h").body["points"].([]any)
	if len(points) != 2 || points[0].(map[string]any)["score"] != 30.0 || points[1].(map[string]any)["score"] != 35.0 {
		t.Errorf("%v", points)
	}
	one := b.get("/api/v1/oracle/markets/701122")
	crowd, _ := one.body["crowd"].(map[string]any)
	if one.status != 200 || crowd["yesPercent"] != 75.0 || crowd["totalSignals"] != 4.0 || one.body["resolution"] != nil {
		t.Errorf("%s", one.raw)
	}
	if got := b.get("/api/v1/oracle/markets/999"); got.status != 404 {
		t.Errorf("unknown: %d", got.status)
	}
	b.rw.Close() // the database is away
	for path, want := range map[string]string{
		"/api/aura/score?marketId=701122":  "200 <nil>", // read before
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
