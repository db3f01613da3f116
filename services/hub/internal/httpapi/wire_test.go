package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
)

// withMoves returns a fixture whose ledger has price moves and situations.
func withMoves(t *testing.T, options ...option) *fixture {
	t.Helper()
	b := setup(t, options...)
	gauge := &wirev1.Move{
		MarketId: marketID, Provider: "polymarket", Title: "Will the Ostrava gauge read above 6 m before 1 December?", Outcome: "Yes",
		Lane: "SCIENCE", EventKey: "ostrava-flood", FromBps: 4550, ToBps: 3150, Volume: 182000, Volume24H: proto.Float64(9100), Signals: 42,
		DetectedAt: at("2026-09-18T11:40:00Z"),
	}
	mill := &wirev1.Move{
		MarketId: nativeID, Provider: "manual", Title: "Will the mill race be dry on Sunday?", Outcome: "Dry", Lane: "WORLD",
		FromBps: 5000, ToBps: 5833, DetectedAt: at("2026-09-18T11:59:00Z"),
	}
	flood := &wirev1.Situation{
		EventKey: "ostrava-flood", Provider: "polymarket", Headline: "Ostrava flood odds fall 14 points", Lane: "SCIENCE",
		Markets: []*wirev1.Move{gauge}, MarketCount: 4, Volume: 1830000, Score: 19, Criticality: "Elevated", DetectedAt: at("2026-09-18T11:40:00Z"),
	}
	alone := &wirev1.Situation{
		Provider: "manual", Headline: "Will the mill race be dry rises 8 points", Lane: "WORLD", Markets: []*wirev1.Move{mill}, MarketCount: 1,
		Score: 5, Criticality: "Elevated", DetectedAt: at("2026-09-18T11:59:00Z"),
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Moves = []*wirev1.Move{gauge, mill}
	b.ledger.Situations = map[string][]*wirev1.Situation{"24h": {flood, alone, {Headline: "names no market"}}, "15m": {alone}}
	return b
}

func TestWire(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	for name, target := range map[string]string{
		"moves": "/api/wire", "moves_lane": "/api/wire?window=15m&lane=science&limit=1", "moves_none": "/api/wire?lane=MUSIC",
		"situations": "/api/situations", "situations_lane": "/api/situations?window=15m&lane=world", "situations_none": "/api/situations?window=6h",
	} {
		w := b.send("GET", target, "")
		golden(t, "wire/"+name, w)
		open := w.Header().Get("Access-Control-Allow-Origin") == "*"
		has(t, w, "X-Degraded: ")
		equal(t, open, strings.HasPrefix(target, "/api/situations"), target)
		b.unchanged(target, w)
	}
}

// TestWireQuery checks that the hub replaces invalid parameters with their defaults and reduces a limit to the maximum.
func TestWireQuery(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	for query, want := range map[string]string{
		"": `24h  50 30`, "?window=1h&lane=crypto&limit=7": `1h CRYPTO 7 7`, "?window=7d&lane=OTHER&limit=99999999999": `24h  200 100`,
		"?window=1H&lane=nonsense&limit=-1": `24h  50 30`, "?limit=0": `24h  50 30`, "?window=%00&lane=%ff&limit=1e3": `24h  50 30`,
		"?limit=200&limit=1": `24h  200 100`, "?window=6h&x=" + strings.Repeat("y", 500): `6h  50 30`,
	} {
		b.clock.Advance(5 * time.Minute)
		b.send("GET", "/api/wire"+query, "")
		b.send("GET", "/api/situations"+query, "")
		m, s := apitest.Last[*wirev1.ListMovesRequest](b.ledger), apitest.Last[*wirev1.ListSituationsRequest](b.ledger)
		if got := fmt.Sprint(m.GetWindow(), " ", m.GetLane(), " ", m.GetLimit(), " ", s.GetLimit()); got != want || s.GetWindow() != m.GetWindow() || s.GetLane() != m.GetLane() {
			t.Errorf("%.60s: asked %q and %v, want %q", query, got, s, want)
		}
	}
}

// TestWireIsCached checks that repeated requests cause no further calls of the api. This includes requests with invalid
// parameters.
func TestWireIsCached(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	read := func() int { return b.ledger.Count("ListMoves") + b.ledger.Count("ListSituations") }
	want(t, b.send("GET", "/api/wire", ""), 200, "")
	want(t, b.send("GET", "/api/situations", ""), 200, "")
	first := read()
	for range 30 {
		for _, target := range []string{"/api/wire", "/api/wire?window=nonsense&limit=50", "/api/situations", "/api/situations?lane=OTHER"} {
			if w := b.send("GET", target, ""); w.Code != 200 || w.Header().Get("Cache-Control") != "public, s-maxage=30" {
				t.Fatalf("%s: %d %v", target, w.Code, w.Header())
			}
		}
	}
	equal(t, read(), first)
}

// TestWireWithoutLedger checks that without the ledger, the hub answers with a copy for ten minutes, and then with an empty list.
// Both are degraded and not cacheable.
func TestWireWithoutLedger(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	targets := map[string]string{"/api/wire": "items", "/api/situations": "situations"}
	for target := range targets {
		b.send("GET", target, "")
	}
	b.ledger.Fail(apitest.ErrDB)
	count := func(target string) (rows int, w *answer) {
		w = b.send("GET", target, "")
		var body map[string]json.RawMessage
		var list []any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || json.Unmarshal(body[targets[target]], &list) != nil {
			t.Fatalf("%s: %v %s", target, err, w.Body)
		}
		h := w.Header()
		if w.Code != 200 || h.Get("X-Degraded") != "db" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", target, w.Code, h)
		}
		return len(list), w
	}
	b.clock.Advance(9*time.Minute + 59*time.Second)
	for target := range targets {
		if n, _ := count(target); n != 2 {
			t.Errorf("%s: a copy of ten minutes has %d rows", target, n)
		}
	}
	b.clock.Advance(2 * time.Second)
	for target, name := range targets {
		n, w := count(target)
		has(t, w, "Etag: ")
		equal(t, n, 0, target)
		golden(t, "wire/unavailable_"+name, w)
	}
	b.ledger.Fail(nil)
	b.clock.Advance(2 * time.Second)
	for target := range targets {
		testkit.Eventually(t, 5*time.Second, func() bool { return b.send("GET", target, "").Header().Get("X-Degraded") == "" })
	}
}

// TestEventRedirect checks that the link of a situation redirects to its first market. It checks situations of each window and
// lane.
func TestEventRedirect(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	b.ledger.Lock()
	for i := range 100 { // more than fit in the list for all lanes
		b.ledger.Situations["1h"] = append(b.ledger.Situations["1h"], &wirev1.Situation{
			EventKey: fmt.Sprint("crowd-", i), Lane: "SPORT", Markets: []*wirev1.Move{{MarketId: fmt.Sprint(100 + i)}},
		})
	}
	b.ledger.Situations["1h"] = append(b.ledger.Situations["1h"], &wirev1.Situation{
		EventKey: "späť & ďalej", Lane: "MUSIC", Markets: []*wirev1.Move{{MarketId: "lmt-late"}},
	})
	b.ledger.Unlock()
	for key, to := range map[string]string{
		"ostrava-flood": "/m/701122", "crowd-7": "/m/107", "sp%C3%A4%C5%A5%20&%20%C4%8Falej": "/m/lmt-late",
	} {
		want(t, b.send("GET", "/s/"+key, ""), 302, "", "Location: "+to, "Cache-Control: public, s-maxage=30")
	}
	asked := b.ledger.Count("ListSituations")
	for i := range 50 {
		w := b.send("GET", fmt.Sprintf("/s/nothing-%d", i), "")
		if w.Code != 404 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("Content-Security-Policy") == "" || !strings.Contains(w.Body.String(), "No recent movement") {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	equal(t, b.ledger.Count("ListSituations")-asked, 0)
	for _, key := range []string{"", "%2e%2e", "a%2Fb", "%00", "%ff", "<script>alert(1)<%2Fscript>"} {
		want(t, b.send("GET", "/s/"+key, "", with("Accept", "application/json")), 404, "not_found")
	}
}

// TestEventRedirectWithoutLedger checks that without the ledger, the links of known situations work for ten minutes. Other links
// answer 503.
func TestEventRedirectWithoutLedger(t *testing.T) {
	t.Parallel()
	b := withMoves(t)
	b.send("GET", "/s/ostrava-flood", "")
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(9 * time.Minute)
	want(t, b.send("GET", "/s/ostrava-flood", ""), 302, "", "X-Degraded: db", "Cache-Control: no-store")
	for _, key := range []string{"unknown", "ostrava-flood"} {
		w := b.send("GET", "/s/"+key, "")
		if w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Header().Get("Cache-Control") != "no-store" ||
			!strings.Contains(w.Body.String(), "Temporarily unavailable") {
			t.Errorf("%s: %d %v", key, w.Code, w.Header())
		}
		want(t, b.send("GET", "/s/"+key, "", with("Accept", "application/json")), 503, "db_unavailable")
		b.clock.Advance(2 * time.Minute)
	}
}
