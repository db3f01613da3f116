package edge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestAirable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Lock()
	b.ledger.Markets[marketID].Category, b.ledger.Markets[marketID].Takes, b.ledger.Markets[marketID].Streams = "science", 6, 1
	for i := range 450 {
		id := fmt.Sprint(900000 + i)
		b.ledger.Markets[id] = &marketv1.Market{
			Id: id, Provider: "polymarket", Title: "Filler", Status: "open", YesBps: proto.Int32(1), Lane: "SPORT", EndDate: at("2027-01-01T00:00:00Z"),
		}
	}
	b.ledger.Unlock()
	golden(t, "air/airable", b.send("GET", "/api/markets/airable?limit=2", ""))
	golden(t, "air/airable_none", b.send("GET", "/api/markets/airable?lane=MUSIC", ""))
	for query, count := range map[string]string{
		"": "100", "?limit=400": "400", "?limit=401": "400", "?limit=0": "100", "?limit=%00": "100", "?lane=science": "1", "?lane=nonsense&limit=5": "5",
	} {
		w := b.send("GET", "/api/markets/airable"+query, "")
		if w.Code != 200 || field(w, "count") != count || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%q: %d, %s rows, want %s: %v", query, w.Code, field(w, "count"), count, w.Header())
		}
	}
	asked := b.ledger.Count("ListAirable")
	for range 20 {
		b.send("GET", "/api/markets/airable?lane=OTHER&x=1", "")
	}
	if n := b.ledger.Count("ListAirable") - asked; n != 0 {
		t.Errorf("%d questions for a ready page", n)
	}
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(2 * time.Minute)
	w := b.send("GET", "/api/markets/airable", "")
	golden(t, "air/airable_away", w)
	if w.Header().Get("X-Degraded") != "db" || w.Header().Get("Etag") != "" {
		t.Errorf("%v", w.Header())
	}
}

// TestAirableIsStillAhead: what ran out between the ledger's choice and the answer
// is left out.
func TestAirableIsStillAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.After = func(_ context.Context, method string) error {
		if method == "ListAirable" {
			b.clock.Set(time.Date(2026, 9, 20, 9, 50, 0, 0, time.UTC)) // ten minutes before the native one ends
		}
		return nil
	}
	if w := b.send("GET", "/api/markets/airable", ""); field(w, "count") != "1" || strings.Contains(w.Body.String(), nativeID) {
		t.Errorf("%s", w.Body)
	}
}

func TestOracle(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := tiled(t, store)
	want(t, b.send("POST", "/api/admin/pins", pinning(`"label":"Pinned"`), byAdmin()), 200, "")
	golden(t, "air/oracle", b.send("GET", "/api/oracle/featured", ""))
	if r := b.ledger.LastTiles; len(r.GetPinned()) != 0 || r.GetMode() != "" {
		t.Errorf("asked for %v", r)
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
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(2 * time.Minute)
	for target, source := range map[string]string{"/api/oracle/featured": "cache", "/api/oracle/featured?limit=9": "empty"} {
		w := b.send("GET", target, "")
		if field(w, "source") != source || w.Header().Get("X-Degraded") != "db" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v %.80s", target, w.Header(), w.Body)
		}
	}
	golden(t, "air/oracle_away", b.send("GET", "/api/oracle/featured?limit=9", ""))
}

func TestFashion(t *testing.T) {
	t.Parallel()
	b, _, _ := published(t)
	golden(t, "air/fashion_none", b.send("GET", "/api/fashion/signals", ""))
	b.ledger.Lock()
	b.ledger.Markets[marketID].Category = "fashion"
	b.ledger.Unlock()
	b.clock.Advance(time.Minute)
	w := b.send("GET", "/api/fashion/signals", "")
	golden(t, "air/fashion", w)
	if w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", w.Header())
	}
	for query, count := range map[string]string{"?limit=1": "1", "?limit=0": "3", "?limit=999": "3", "?limit=x&category=sport&type=open": "3"} {
		if w := b.send("GET", "/api/fashion/signals"+query, ""); field(w, "count") != count || field(w, "type") != "fashion" {
			t.Errorf("%q: %s", query, w.Body)
		}
	}
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(2 * time.Minute)
	w = b.send("GET", "/api/fashion/signals", "")
	golden(t, "air/fashion_away", w)
	if w.Header().Get("X-Degraded") != "db" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", w.Header())
	}
}
