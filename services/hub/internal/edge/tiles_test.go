package edge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func tiled(t *testing.T, options ...option) *bench {
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
	b := tiled(t)
	for name, target := range map[string]string{
		"all": "/api/polymarket/featured", "resolving": "/api/polymarket/featured?mode=resolving24h&x=1",
	} {
		w := b.send("GET", target, "")
		golden(t, "tiles/"+name, w)
		if w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	for range 20 {
		for _, mode := range []string{"", "?mode=nonsense", "?mode=%00", "?mode=" + strings.Repeat("x", 9000)} {
			if w := b.send("GET", "/api/polymarket/featured"+mode, ""); w.Code != 200 || !strings.Contains(w.Body.String(), "ostrava-flood") {
				t.Fatal(w.Code, w.Body)
			}
		}
	}
	if n := b.ledger.Count("ListTiles"); n != 2 {
		t.Errorf("%d hops for two pages", n)
	}
}

// TestHeatmapWithoutLedger: a copy first, and nothing when there is none; both
// say so, and no cache keeps them.
func TestHeatmapWithoutLedger(t *testing.T) {
	t.Parallel()
	b := tiled(t)
	b.send("GET", "/api/polymarket/featured", "")
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(2 * time.Minute)
	for name, target := range map[string]string{"copy": "/api/polymarket/featured", "none": "/api/polymarket/featured?mode=resolving24h"} {
		w := b.send("GET", target, "")
		golden(t, "tiles/"+name, w)
		if w.Header().Get("X-Degraded") != "db" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	b.clock.Advance(4 * time.Minute)
	if w := b.send("GET", "/api/polymarket/featured", ""); field(w, "source") != "empty" {
		t.Errorf("a copy older than five minutes: %s", w.Body)
	}
	b.setBefore(nil)
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
	if n := b.ledger.Count("ListHistory"); n != asked {
		t.Errorf("%d questions about what cannot be", n-asked)
	}
	for _, target := range []string{"market-history", "market-history?marketId=&tokenId=", "market-history?market_id=1", "history", "history?marketId=1"} {
		want(t, b.send("GET", "/api/polymarket/"+target, ""), 400, "missing_market_id")
	}
}
