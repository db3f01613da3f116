package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/proto/openapi"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
)

func TestAirable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Exec(`UPDATE markets SET category = 'science' WHERE market_id = $1`, marketID)
	b.ledger.Exec(`INSERT INTO market_takes (market_id, takes) VALUES ($1, 6)`, marketID)
	b.ledger.Exec(`INSERT INTO market_streams (market_id, streams) VALUES ($1, 1)`, marketID)
	for i := range 450 {
		b.ledger.AddMarket(apitest.Market{ID: fmt.Sprint(900000 + i), Title: "Filler", Yes: 1, Lane: "SPORT", End: at("2027-01-01T00:00:00Z").AsTime()})
	}
	golden(t, "air/airable", b.send("GET", "/api/markets/airable?limit=2", ""))
	golden(t, "air/airable_none", b.send("GET", "/api/markets/airable?lane=MUSIC", ""))
	for query, count := range map[string]string{
		"": "100", "?limit=400": "400", "?limit=401": "400", "?limit=0": "100", "?limit=%00": "100", "?lane=science": "1", "?lane=nonsense&limit=5": "5",
	} {
		want(t, b.send("GET", "/api/markets/airable"+query, ""), 200, "", "count="+count, "Access-Control-Allow-Origin: ")
	}
	asked := b.ledger.Count("ListAirable")
	for range 20 {
		b.send("GET", "/api/markets/airable?lane=OTHER&x=1", "")
	}
	equal(t, b.ledger.Count("ListAirable")-asked, 0)
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(2 * time.Minute)
	w := b.send("GET", "/api/markets/airable", "")
	golden(t, "air/airable_unavailable", w)
	has(t, w, "X-Degraded: db", "Etag: ")
}

// TestAirableLeavesOutMarketsThatEnd checks that the hub leaves out a market that came too close to its end after the ledger had
// selected it.
func TestAirableLeavesOutMarketsThatEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.After(func(method string) error {
		if method == "ListAirable" {
			b.clock.Set(time.Date(2026, 9, 20, 9, 50, 0, 0, time.UTC)) // ten minutes before the native one ends
		}
		return nil
	})
	if w := b.send("GET", "/api/markets/airable", ""); field(w, "count") != "1" || strings.Contains(w.Body.String(), nativeID) {
		t.Errorf("%s", w.Body)
	}
}

func TestOracle(t *testing.T) {
	t.Parallel()
	b := withTiles(t)
	want(t, b.send("POST", "/api/admin/pins", pinning(`"label":"Pinned"`), byAdmin()), 200, "")
	golden(t, "air/oracle", b.send("GET", "/api/oracle/featured", ""))
	if r := apitest.Last[*cataloguev1.ListTilesRequest](b.ledger); len(r.GetPinned()) != 0 || r.GetMode() != "" {
		t.Errorf("the hub requested %v", r)
	}
	golden(t, "air/oracle_one", b.send("GET", "/api/oracle/featured?limit=1", ""))
	b.ledger.Lock()
	many := b.ledger.Tiles[""]
	for len(many) < 60 {
		many = append(many, &cataloguev1.Tile{Id: "x", MarketId: "7", Lane: "OTHER", MarketCount: 1})
	}
	b.ledger.Tiles[""] = many
	b.ledger.Unlock()
	b.clock.Advance(2 * time.Minute)
	for query, n := range map[string]int{"": 12, "?limit=40": 40, "?limit=41": 40, "?limit=0": 12, "?limit=-1": 12, "?limit=%ff": 12} {
		w := b.send("GET", "/api/oracle/featured"+query, "")
		if got := strings.Count(w.Body.String(), `"attention"`); w.Code != 200 || got != n || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%q: %d, %d tiles, want %d", query, w.Code, got, n)
		}
	}
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(2 * time.Minute)
	for target, source := range map[string]string{"/api/oracle/featured": "cache", "/api/oracle/featured?limit=9": "empty"} {
		has(t, b.send("GET", target, ""), "source="+source, "X-Degraded: db", "Cache-Control: no-store")
	}
	golden(t, "air/oracle_unavailable", b.send("GET", "/api/oracle/featured?limit=9", ""))
}

func TestFashion(t *testing.T) {
	t.Parallel()
	b, _, _ := withCalls(t)
	golden(t, "air/fashion_none", b.send("GET", "/api/fashion/signals", ""))
	b.ledger.Exec(`UPDATE markets SET category = 'fashion' WHERE market_id = $1`, marketID)
	b.clock.Advance(time.Minute)
	w := b.send("GET", "/api/fashion/signals", "")
	golden(t, "air/fashion", w)
	has(t, w, "Access-Control-Allow-Origin: *")
	for query, count := range map[string]string{"?limit=1": "1", "?limit=0": "3", "?limit=999": "3", "?limit=x&category=sport&type=open": "3"} {
		has(t, b.send("GET", "/api/fashion/signals"+query, ""), "count="+count, "type=fashion")
	}
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(2 * time.Minute)
	w = b.send("GET", "/api/fashion/signals", "")
	golden(t, "air/fashion_unavailable", w)
	has(t, w, "X-Degraded: db", "Access-Control-Allow-Origin: *")
}

// withTiles returns a fixture whose ledger has tiles for both modes of the heatmap.
func withTiles(t *testing.T, options ...option) *fixture {
	t.Helper()
	b := setup(t, options...)
	b.ledger.Lock()
	defer b.ledger.Unlock()
	event := &cataloguev1.Tile{
		Id: "ostrava-flood", Label: "River levels", MarketId: "701122", Title: "Will the Ostrava gauge read above 6 m before 1 December?",
		Lane: "SCIENCE", MarketCount: 3, Volume24H: 48210.5, YesBps: proto.Int32(3150), Move24HBps: proto.Int32(-450),
		EndsAt: at("2026-11-30T23:00:00Z"), Attention: 56,
	}
	single := &cataloguev1.Tile{Id: "mill", Label: "Mill", MarketId: "7", Title: "Mill", Lane: "OTHER", MarketCount: 1, ImageUrl: "https://img.example/m.png"}
	hours, minutes := proto.CloneOf(single), proto.CloneOf(single)
	hours.EndsAt, minutes.EndsAt = at("2026-09-18T23:59:59Z"), at("2026-09-18T12:12:00Z")
	b.ledger.Tiles = map[string][]*cataloguev1.Tile{"": {event, single}, "resolving24h": {minutes, hours}}
	return b
}

func TestHeatmap(t *testing.T) {
	t.Parallel()
	b := withTiles(t)
	for name, target := range map[string]string{
		"all": "/api/polymarket/featured", "resolving": "/api/polymarket/featured?mode=resolving24h&x=1",
	} {
		w := b.send("GET", target, "")
		golden(t, "tiles/"+name, w)
		has(t, w, "Access-Control-Allow-Origin: *")
	}
	asked := b.ledger.Count("ListTiles")
	for range 20 {
		for _, mode := range []string{"", "?mode=nonsense", "?mode=%00", "?mode=" + strings.Repeat("x", 9000)} {
			if w := b.send("GET", "/api/polymarket/featured"+mode, ""); w.Code != 200 || !strings.Contains(w.Body.String(), "ostrava-flood") {
				t.Fatal(w.Code, w.Body)
			}
		}
	}
	equal(t, b.ledger.Count("ListTiles"), asked)
}

// TestHeatmapWithoutLedger checks that without the ledger, the hub returns the last heatmap. If there is none or it is too old,
// the hub returns an empty one. Both are marked as degraded.
func TestHeatmapWithoutLedger(t *testing.T) {
	t.Parallel()
	b := withTiles(t)
	b.send("GET", "/api/polymarket/featured", "")
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(2 * time.Minute)
	for name, target := range map[string]string{"copy": "/api/polymarket/featured", "none": "/api/polymarket/featured?mode=resolving24h"} {
		w := b.send("GET", target, "")
		golden(t, "tiles/"+name, w)
		has(t, w, "X-Degraded: db", "Access-Control-Allow-Origin: *")
	}
	b.clock.Advance(4 * time.Minute)
	has(t, b.send("GET", "/api/polymarket/featured", ""), "source=empty")
	b.ledger.Fail(nil)
	b.clock.Advance(2 * time.Second)
	testkit.Eventually(t, 5*time.Second, func() bool {
		return field(b.send("GET", "/api/polymarket/featured", ""), "source") == "polymarket"
	})
}

func TestHistories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Histories = map[string][]*cataloguev1.HistoryPoint{
		"24H 701122": {{T: 1789732800, P: 0.315}, {T: 1789733100, P: 0.3333}}, "1H 701122": {{T: 1789732800, P: 0.3333}, {T: 1789732860, P: 0}},
		"7D 701122": {{T: 1, P: 1}}, "ALL 77": {{T: 2, P: 0.5}},
	}
	for name, target := range map[string]string{
		"new":         "/api/polymarket/market-history?marketId=701122",
		"new_hour":    "/api/polymarket/market-history?marketId=701122&interval=1H",
		"new_week":    "/api/polymarket/market-history?marketId=701122&interval=7D",
		"new_token":   "/api/polymarket/market-history?marketId=701122&tokenId=77&interval=ALL",
		"new_unknown": "/api/polymarket/market-history?marketId=999&interval=nonsense",
		"old":         "/api/polymarket/history?market_id=701122",
		"old_unknown": "/api/polymarket/history?market_id=999",
	} {
		golden(t, "history/"+name, b.send("GET", target, ""))
	}
	b.ledger.Histories["1H 701122"] = []*cataloguev1.HistoryPoint{
		{T: 1789729140, P: 0.1}, {T: 1789729259, P: 0.2}, {T: 1789729261, P: 0.3}, {T: 1789729319, P: 0.4}, {T: 1789732805, P: 0.5},
	}
	var old struct{ Points []struct{ TS, P float64 } }
	if err := json.Unmarshal(b.send("GET", "/api/polymarket/history?market_id=701122", "").Body.Bytes(), &old); err != nil {
		t.Fatal(err)
	}
	// The newest point is in the minute of 1789732800, so the 60 minutes begin at 1789729260.
	if len(old.Points) != 60 || old.Points[0].P != 40 || old.Points[58].P != 40 || old.Points[59].P != 50 {
		t.Errorf("points of the hour: %v; want 60, the first 59 at 40 percent, the last at 50", old.Points)
	}
	for i, p := range old.Points {
		if want := float64(1789729260+60*i) * 1000; p.TS != want {
			t.Errorf("point %d has the time %.0f, want %.0f", i, p.TS, want)
		}
	}
	asked := b.ledger.Count("ListHistory")
	for _, target := range []string{
		"market-history?marketId=polymarket:1", "market-history?marketId=%00", "market-history?tokenId=%ff", "market-history?tokenId=-1",
		"market-history?tokenId=" + strings.Repeat("1", 81), "market-history?marketId=" + strings.Repeat("1", 5000), "history?market_id=%ff",
	} {
		w := b.send("GET", "/api/polymarket/"+target, "")
		if body := strings.TrimSpace(w.Body.String()); w.Code != 200 || body != `{"history":[]}` && body != `{"points":[]}` {
			t.Errorf("%.60s: %d %s", target, w.Code, w.Body)
		}
	}
	equal(t, b.ledger.Count("ListHistory"), asked)
	for _, target := range []string{"market-history", "market-history?marketId=&tokenId=", "market-history?market_id=1", "history", "history?marketId=1"} {
		want(t, b.send("GET", "/api/polymarket/"+target, ""), 400, "missing_market_id")
	}
}

// withCatalogue returns a fixture with three more markets of the first venue: one open, one resolved NO and one void.
func withCatalogue(t *testing.T, options ...option) *fixture {
	t.Helper()
	b := setup(t, options...)
	b.ledger.AddMarket(apitest.Market{ID: "701123", Title: "Gauge of the Morava", Lane: "WORLD", Read: at("2026-09-18T11:59:30Z").AsTime()})
	b.ledger.AddMarket(apitest.Market{
		ID: "699001", Title: "Will the gauge fall?", Lane: "SCIENCE", Yes: 1200, Volume: 51000, End: at("2026-09-17T18:00:00Z").AsTime(),
		Read: at("2026-09-17T20:00:00Z").AsTime(),
	})
	b.ledger.AddMarket(apitest.Market{ID: "699002", Title: "Gauge, void"})
	b.ledger.Exec(`INSERT INTO market_totals (market_id, yes, no) VALUES ('699001', 1, 3)`)
	b.resolve("699001", "NO", at("2026-09-17T20:00:00Z").AsTime())
	b.resolve("699002", "INVALID", at("2026-09-16T20:00:00Z").AsTime())
	b.ledger.Run()
	return b
}

// resolve stores a resolution of a market with the given verdict and time, as its venue published it. The market must have no
// calls.
func (b *fixture) resolve(market, verdict string, resolved time.Time) {
	b.ledger.Exec(`INSERT INTO market_resolutions (market_id, outcome, resolver, source, close_at, close_price, lane, resolved_at, rated)
		SELECT m.market_id, $2, 'oracle', m.provider, $3, q.yes_bps, m.lane, $3, true
		FROM markets m JOIN market_quotes q USING (market_id) WHERE m.market_id = $1`, market, verdict, resolved)
	b.ledger.Exec(`UPDATE markets SET status = 'resolved', resolution_value = $2 WHERE market_id = $1`, market, verdict)
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	b := withCatalogue(t)
	for name, target := range map[string]string{
		"found":          "/api/polymarket/markets?q=gauge&closed=false",
		"found_page":     "/api/polymarket/markets?q=gauge&limit=1",
		"found_closed":   "/api/polymarket/markets?q=gauge&closed=true&sort=endDate",
		"found_nothing":  "/api/polymarket/markets?q=nothing",
		"market":         "/api/polymarket/market?id=701122",
		"market_settled": "/api/polymarket/market?id=699001",
		"resolved":       "/api/polymarket/resolved",
		"resolved_page":  "/api/polymarket/resolved?limit=1",
		"resolved_next":  "/api/polymarket/resolved?limit=1&cursor=eyJrIjpbInJlc29sdmVkIiwiMTc4OTY3NTIwMDAwMDAwMCJdLCJpZCI6IjY5OTAwMSJ9",
	} {
		w := b.send("GET", target, "")
		golden(t, "catalogue/"+name, w)
		has(t, w, "Access-Control-Allow-Origin: *")
		b.unchanged(target, w)
	}
}

// TestSearchQueries checks the requests that the hub sends to the ledger for a search. The hub removes invalid UTF-8, replaces
// invalid parameters with their defaults, and bounds the text at 512 bytes and the limit at 100.
func TestSearchQueries(t *testing.T) {
	t.Parallel()
	b := withCatalogue(t)
	for raw, want := range map[string]string{
		"":               `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?q=a%00b&q=c":   `"a\x00b" lane= closed=false sort=volume limit=100 cursor=`,
		"?q=%ff%fegauge": `" gauge" lane= closed=false sort=volume limit=100 cursor=`,
		"?limit=500&lane=science&closed=true&sort=volume24h":                 `"" lane=SCIENCE closed=true sort=volume24h limit=100 cursor=`,
		"?limit=-1&lane=OTHER&closed=TRUE&sort=%27;drop&cursor=%00%ff":       `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?limit=99999999999999999999&cursor=" + strings.Repeat("A", 100_000): `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?sort=endDate&cursor=eyJrIjpbXX0":                                   `"" lane= closed=false sort=endDate limit=100 cursor=eyJrIjpbXX0`,
	} {
		if w := b.send("GET", "/api/polymarket/markets"+raw, ""); w.Code != 200 {
			t.Errorf("%.60s: %d %s", raw, w.Code, w.Body)
			continue
		}
		r := apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger)
		got := fmt.Sprintf("%q lane=%s closed=%v sort=%s limit=%d cursor=%s", r.GetText(), r.GetLane(), r.GetClosed(), r.GetSort(), r.GetLimit(), r.GetCursor())
		equal(t, got, want, raw)
		equal(t, r.GetProvider(), "polymarket", raw)
	}
	b.send("GET", "/api/polymarket/markets?q="+strings.Repeat("gauge+", 50_000), "")
	if n := len(apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger).GetText()); n > 512 {
		t.Errorf("the hub sends %d bytes of a search text to the ledger; want at most 512", n)
	}
}

// TestMarketList checks the list of all markets: markets of several venues and a native one, with the names of their sides and
// their prices.
func TestMarketList(t *testing.T) {
	t.Parallel()
	b := withCatalogue(t)
	b.ledger.AddMarket(apitest.Market{
		ID: "kalshi-KXROVERS-26", Title: "Ochre Rovers or Slate City?", Lane: "SPORT", Yes: 3150, YesPrice: 3200, NoPrice: 6900, Volume: 50_000,
	})
	b.ledger.AddMarket(apitest.Market{ID: "manifold-shut", Title: "Shut", Status: "closed", Yes: 100, YesPrice: 110, NoPrice: 9910})
	b.ledger.AddMarket(apitest.Market{ID: "lmt-unconfirmed", Title: "lmt-unconfirmed", Status: "unknown"})
	b.ledger.Exec(`UPDATE markets SET outcome_labels = '{Slate City,Ochre Rovers}', yes_index = 1 WHERE market_id = 'kalshi-KXROVERS-26'`)
	b.ledger.Exec(`UPDATE markets SET outcome_labels = '{YES,no}' WHERE market_id = '701123'`)
	for name, target := range map[string]string{
		"listed":         "/api/markets",
		"listed_page":    "/api/markets?limit=2&q=gauge",
		"listed_ids":     "/api/markets?ids=701123,nonsense,kalshi-KXROVERS-26&sort=closes",
		"listed_nothing": "/api/markets?ids=nonsense",
	} {
		w := b.send("GET", target, "")
		golden(t, "catalogue/"+name, w)
		has(t, w, "Access-Control-Allow-Origin: *")
		b.unchanged(target, w)
	}
	for query, want := range map[string]string{
		"?status=closed":                                    "manifold-shut",
		"?status=resolved":                                  "699001 699002",
		"?status=open&provider=kalshi":                      "kalshi-KXROVERS-26",
		"?provider=manual":                                  nativeID,
		"?lane=sport":                                       "kalshi-KXROVERS-26",
		"?minVolumeUsd=50000&status=open":                   "701122 kalshi-KXROVERS-26",
		"?minVolumeUsd=50000.01&status=open":                "701122",
		"?closesAfter=2026-09-17T18:00:00Z&status=resolved": "",
		"?closesAfter=2026-09-17T17:59:59Z&status=resolved": "699001",
		"?closesBefore=2026-09-17T18:00:01Z":                "699001",
		"?closesBefore=2026-09-17T18:00:00Z":                "",
		"?q=rovers&sort=newest":                             "kalshi-KXROVERS-26",
	} {
		w := b.send("GET", "/api/markets"+query, "")
		var list openapi.MarketList
		must(t, json.Unmarshal(w.Body.Bytes(), &list))
		ids := make([]string, 0, len(list.Markets))
		for _, m := range list.Markets {
			ids = append(ids, m.ID)
		}
		equal(t, strings.Join(ids, " "), want, query)
		equal(t, list.Count, int64(len(ids)), query)
	}
	for raw, want := range map[string]string{
		"?minVolumeUsd=-1&closesAfter=now&status=unknown&provider=x&sort=price": "status=any provider= sort=volume min=0 after=false",
		"?minVolumeUsd=NaN&closesAfter=":                                        "status=any provider= sort=volume min=0 after=false",
		"?minVolumeUsd=1e3&sort=closes&closesAfter=2026-09-17T18:00:00%2B02:00": "status=any provider= sort=endDate min=1000 after=true",
		"?sort=calls": "status=any provider= sort=calls min=0 after=false", "?sort=move": "status=any provider= sort=move min=0 after=false",
	} {
		b.clock.Advance(time.Minute) // no list is cached
		b.send("GET", "/api/markets"+raw, "")
		r := apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger)
		equal(t, fmt.Sprintf("status=%s provider=%s sort=%s min=%v after=%t", r.GetStatus(), r.GetProvider(), r.GetSort(), r.GetMinVolumeUsd(),
			r.GetEndAfter() != nil), want, raw)
	}
	b.send("GET", "/api/markets?ids="+strings.Repeat("1,", 5000)+"2", "")
	equal(t, len(apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger).GetIds()), 100)
	has(t, b.send("GET", "/api/markets", ""), "count=7")
	b.ledger.Fail(apitest.ErrDB)
	has(t, b.send("GET", "/api/markets?limit=100&sort=volume&x=1", ""), "count=7", "X-Degraded: ") // the cached answer of a list above
	b.clock.Advance(time.Minute)
	w := b.send("GET", "/api/markets", "")
	golden(t, "catalogue/listed_unavailable", w)
	has(t, w, "Access-Control-Allow-Origin: *", "X-Degraded: db")
}

func TestVenueSlugIsASetting(t *testing.T) {
	t.Parallel()
	b := withCatalogue(t, func(cfg *httpapi.Config, _ *httpapi.Deps) { cfg.VenueA = "exchange" })
	want(t, b.send("GET", "/api/exchange/market?id=701122", ""), 200, "")
	want(t, b.send("GET", "/api/polymarket/market?id=701122", ""), 404, "not_found")
}

func TestRelatedMarkets(t *testing.T) {
	t.Parallel()
	b, _, _ := withCalls(t)
	one, mill := b.market(marketID), b.market(nativeID)
	b.ledger.Lock()
	b.ledger.Relations = map[string][]*cataloguev1.Relation{marketID: {
		{Market: mill, Relation: "similar", Similarity: 0.25}, {Market: one, Relation: "same_lane", Similarity: 0},
	}}
	b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{marketID: {
		Yes: 4, No: 6, WeightYes: 2.4, WeightNo: 3.75, ConfidenceYes: proto.Float64(60.5), TakesYes: 2, TakesNo: 4, Signals24H: 3,
		Move24HBps: proto.Int32(-450),
	}}
	unpriced := proto.CloneOf(one)
	unpriced.Id, unpriced.YesBps = "5", nil
	narrow := proto.CloneOf(one)
	narrow.Id, narrow.YesBps = "6", proto.Int32(6600)
	b.ledger.Gaps = []*cataloguev1.Gap{
		{Market: narrow, CrowdYes: 2, CrowdNo: 1}, {Market: unpriced, CrowdYes: 9, CrowdNo: 1}, {Market: one, CrowdYes: 0, CrowdNo: 3},
	}
	b.ledger.Unlock()
	for name, target := range map[string]string{
		"active":           "/api/m/701122/related",
		"active_alone":     "/api/m/" + nativeID + "/related",
		"sentiment":        "/api/m/701122/sentiment",
		"sentiment_none":   "/api/m/" + nativeID + "/sentiment",
		"network":          "/api/network/market/701122",
		"network_resolved": "/api/network/market/" + nativeID,
		"gaps":             "/api/network/crowd",
		"gaps_one":         "/api/network/crowd?market=701122&limit=-4",
		"gaps_none":        "/api/network/crowd?market=999",
	} {
		w := b.send("GET", target, "")
		golden(t, "related/"+name, w)
		equal(t, strings.HasPrefix(target, "/api/network/"), w.Header().Get("Access-Control-Allow-Origin") == "*", target)
	}
	for _, target := range []string{"%00", "%ff", "polymarket:1", strings.Repeat("1", 9000)} {
		want(t, b.send("GET", "/api/network/crowd?market="+target, ""), 200, "", `"markets":[]`)
	}
}

// TestSentiment checks the score and the label at the boundaries of the labels.
func TestSentiment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		yes, no float64
		n       int64
		want    string
	}{
		{0, 0, 0, "0 neutral"},
		{6, 4, 1, "20 bullish"},
		{4, 6, 9, "-20 bearish"},
		{5.9, 4.1, 6, "18 mixed"},
		{5.9, 4.1, 5, "18 neutral"},
		{1, 0, 1, "100 bullish"},
		{0, 3, 3, "-100 bearish"},
		{5.975, 4.025, 6, "20 bullish"},
	} {
		b.ledger.Lock()
		b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{marketID: {Yes: c.n, WeightYes: c.yes, WeightNo: c.no}}
		b.ledger.Unlock()
		w := b.send("GET", "/api/m/701122/sentiment", "")
		equal(t, field(w, "score")+" "+field(w, "label"), c.want, c.yes, c.no, c.n)
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	b := withTiles(t)
	b.ledger.AddMarket(apitest.Market{ID: "7", Title: "Mill", Yes: 5000})
	golden(t, "pins/none", b.send("GET", "/api/admin/pins", "", byAdmin()))
	b.send("GET", "/api/polymarket/featured", "") // a cached answer, which a new pin must replace
	golden(t, "pins/kept", b.send("POST", "/api/admin/pins", `{"marketId":"7","label":"Mill <race>","tagline":"until Sunday","position":3}`, byAdmin()))
	golden(t, "pins/heatmap", b.send("GET", "/api/polymarket/featured", ""))
	b.clock.Advance(time.Minute)
	golden(t, "pins/kept_bare", b.send("POST", "/api/admin/pins", `{"marketId":"701122","label":"","tagline":null}`, byAdmin()))
	golden(t, "pins/kept_again", b.send("POST", "/api/admin/pins", `{"marketId":"7","tagline":"now"}`, byAdmin()))
	golden(t, "pins/all", b.send("GET", "/api/admin/pins", "", byAdmin()))
	b.send("GET", "/api/polymarket/featured", "")
	if r := apitest.Last[*cataloguev1.ListTilesRequest](b.ledger); fmt.Sprint(r.GetPinned()) != "[7 701122]" {
		t.Errorf("the hub requested %v", r)
	}
	b.send("GET", "/api/polymarket/featured?mode=resolving24h", "")
	if r := apitest.Last[*cataloguev1.ListTilesRequest](b.ledger); r.GetMode() != "resolving24h" || len(r.GetPinned()) != 0 {
		t.Errorf("the hub requested %v", r)
	}
	golden(t, "pins/removed", b.send("DELETE", "/api/admin/pins?marketId=7", "", byAdmin()))
	has(t, b.send("GET", "/api/polymarket/featured", ""), `!"tagline":"now"`)
	golden(t, "pins/removed_again", b.send("DELETE", "/api/admin/pins?marketId=7", "", byAdmin()))
}

func TestPinMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":"polymarket:7"}`: "invalid_market_id", `{"marketId":"` + nativeID + `"}`: "invalid_market_id",
		`{"marketId":"kalshi-KXA"}`: "invalid_market_id", `{"marketId":7}`: "invalid_market_id",
		pinning(`"label":"` + strings.Repeat("l", 81) + `"`):   "invalid_label",
		pinning(`"tagline":"` + strings.Repeat("t", 81) + `"`): "invalid_tagline",
		pinning(`"label":1`):      "invalid_label",
		pinning(`"position":0`):   "invalid_position",
		pinning(`"position":101`): "invalid_position",
		pinning(`"position":"1"`): "invalid_position",
	} {
		want(t, b.send("POST", "/api/admin/pins", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/pins", pinning(`"label":"`+strings.Repeat("ž", 80)+`","position":100`), byAdmin()), 200, "")
	want(t, b.send("POST", "/api/admin/pins", `{"marketId":"999"}`, byAdmin()), 404, "market_not_found")
	want(t, b.send("DELETE", "/api/admin/pins", "", byAdmin()), 400, "missing_market_id")
	for _, id := range []string{"polymarket:7", nativeID, "%00", "x", "07"} {
		want(t, b.send("DELETE", "/api/admin/pins?marketId="+id, "", byAdmin()), 400, "invalid_market_id")
	}
}

// pinning returns the body of a request that pins market 701122. members is JSON text with further members.
func pinning(members string) string { return `{"marketId":"701122",` + members + `}` }

// TestHeatmapWithoutPins checks the heatmap without the database of pins. It has its tiles, is marked as degraded, and is stored
// neither by the hub nor by shared caches. Only a heatmap with its pins is used while the ledger is unavailable.
func TestHeatmapWithoutPins(t *testing.T) {
	t.Parallel()
	b := withTiles(t)
	b.setDown(true)
	golden(t, "pins/heatmap_degraded", b.send("GET", "/api/polymarket/featured", ""))
	for range 2 {
		has(t, b.send("GET", "/api/polymarket/featured", ""), "X-Degraded: db")
		if r := apitest.Last[*cataloguev1.ListTilesRequest](b.ledger); len(r.GetPinned()) != 0 {
			t.Errorf("the hub requested %v", r)
		}
		b.clock.Advance(2 * time.Second)
	}
	has(t, b.send("GET", "/api/polymarket/featured?mode=resolving24h", ""), "X-Degraded: ")
	want(t, b.send("GET", "/api/admin/pins", "", byAdmin()), 503, "db_unavailable")
	b.setDown(false)
	has(t, b.send("GET", "/api/polymarket/featured", ""), "X-Degraded: ", "!Cache-Control: no-store")
	b.setDown(true)
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(2 * time.Minute)
	has(t, b.send("GET", "/api/polymarket/featured", ""), "source=cache", "X-Degraded: db")
}
