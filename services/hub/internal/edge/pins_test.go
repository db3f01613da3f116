package edge_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestPins(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := tiled(t, store)
	b.ledger.Lock()
	b.ledger.Markets["7"] = b.ledger.Markets[marketID]
	b.ledger.Unlock()
	golden(t, "pins/none", b.send("GET", "/api/admin/pins", "", byAdmin()))
	b.send("GET", "/api/polymarket/featured", "") // a ready page that a pin must not wait for
	golden(t, "pins/kept", b.send("POST", "/api/admin/pins", `{"marketId":"7","label":"Mill <race>","tagline":"until Sunday","position":3}`, byAdmin()))
	golden(t, "pins/heatmap", b.send("GET", "/api/polymarket/featured", ""))
	b.clock.Advance(time.Minute)
	golden(t, "pins/kept_bare", b.send("POST", "/api/admin/pins", `{"marketId":"701122","label":"","tagline":null}`, byAdmin()))
	golden(t, "pins/kept_again", b.send("POST", "/api/admin/pins", `{"marketId":"7","tagline":"now"}`, byAdmin()))
	golden(t, "pins/all", b.send("GET", "/api/admin/pins", "", byAdmin()))
	b.send("GET", "/api/polymarket/featured", "")
	if r := b.ledger.LastTiles; fmt.Sprint(r.GetPinned()) != "[7 701122]" {
		t.Errorf("asked for %v", r)
	}
	b.send("GET", "/api/polymarket/featured?mode=resolving24h", "")
	if r := b.ledger.LastTiles; r.GetMode() != "resolving24h" || len(r.GetPinned()) != 0 {
		t.Errorf("asked for %v", r)
	}
	golden(t, "pins/removed", b.send("DELETE", "/api/admin/pins?marketId=7", "", byAdmin()))
	if w := b.send("GET", "/api/polymarket/featured", ""); strings.Contains(w.Body.String(), `"tagline":"now"`) {
		t.Errorf("a pin that is gone is shown: %s", w.Body)
	}
	golden(t, "pins/removed_again", b.send("DELETE", "/api/admin/pins?marketId=7", "", byAdmin()))
}

func TestPinMistakes(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
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
	for _, method := range []string{"GET", "POST", "DELETE"} {
		body := map[string]string{"POST": pinning(`"position":1`)}[method]
		want(t, b.send(method, "/api/admin/pins?marketId=701122", body), 401, "unauthenticated")
		want(t, b.send(method, "/api/admin/pins?marketId=701122&secret="+cronSecret, body), 401, "unauthenticated")
		want(t, b.send(method, "/api/admin/pins?marketId=701122", body, b.byKey()), 401, "unauthenticated")
		want(t, b.send(method, "/api/admin/pins?marketId=701122", body, b.bySession()), 401, "unauthenticated")
		want(t, b.send(method, "/api/admin/pins?marketId=701122", body, with("X-Admin-Secret", "guess")), 403, "forbidden")
	}
}

func pinning(members string) string { return `{"marketId":"701122",` + members + `}` }

func TestPinsAreWrittenDown(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	b.send("POST", "/api/admin/pins", pinning(`"position":1`), byAdmin())
	b.send("POST", "/api/admin/pins", `{"marketId":"999"}`, byAdmin())
	b.send("DELETE", "/api/admin/pins?marketId=701122", "", byAdmin())
	b.send("GET", "/api/admin/pins", "", byAdmin())
	var got []string
	for _, e := range b.audit.entries {
		got = append(got, fmt.Sprint(e.Stage, " ", e.Actor, " ", e.Action, " ", e.Target, " ", e.Code))
	}
	want := []string{
		fmt.Sprint(audit.Asked, " admin POST /api/admin/pins 701122 "), fmt.Sprint(audit.Answered, " admin POST /api/admin/pins 701122 ok"),
		fmt.Sprint(audit.Asked, " admin POST /api/admin/pins 999 "), fmt.Sprint(audit.Answered, " admin POST /api/admin/pins 999 market_not_found"),
		fmt.Sprint(audit.Asked, " admin DELETE /api/admin/pins 701122 "), fmt.Sprint(audit.Answered, " admin DELETE /api/admin/pins 701122 ok"),
		fmt.Sprint(audit.Asked, " admin GET /api/admin/pins  "), fmt.Sprint(audit.Answered, " admin GET /api/admin/pins  ok"),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("entries:\n%s", strings.Join(got, "\n"))
	}
	b.audit.fail = memledger.ErrDB
	if w := b.send("POST", "/api/admin/pins", pinning(`"position":1`), byAdmin()); w.Code != 503 {
		t.Errorf("an act that could not be written down: %d %s", w.Code, w.Body)
	}
	b.audit.fail = nil
	if w := b.send("GET", "/api/admin/pins", "", byAdmin()); field(w, "count") != "0" {
		t.Errorf("it was done: %s", w.Body)
	}
}

// TestHeatmapWithoutItsPins: the tiles stay, the answer says what is missing, and
// nothing keeps it, this process no more than a cache.
func TestHeatmapWithoutItsPins(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	var down atomic.Bool
	down.Store(true)
	b := tiled(t, away(t), func(cfg *edge.Config, d *edge.Deps) {
		refusing := d.Pins
		store(cfg, d)
		d.Pins = either{d.Pins, refusing, &down}
	})
	golden(t, "pins/heatmap_degraded", b.send("GET", "/api/polymarket/featured", ""))
	for range 2 {
		w := b.send("GET", "/api/polymarket/featured", "")
		if w.Header().Get("X-Degraded") != "db" {
			t.Errorf("%v", w.Header())
		}
		if r := b.ledger.LastTiles; len(r.GetPinned()) != 0 {
			t.Errorf("asked for %v", r)
		}
		b.clock.Advance(2 * time.Second)
	}
	if w := b.send("GET", "/api/polymarket/featured?mode=resolving24h", ""); w.Header().Get("X-Degraded") != "" {
		t.Errorf("a list without pins: %v", w.Header())
	}
	want(t, b.send("GET", "/api/admin/pins", "", byAdmin()), 503, "db_unavailable")
	down.Store(false)
	if w := b.send("GET", "/api/polymarket/featured", ""); w.Header().Get("X-Degraded") != "" || w.Header().Get("Cache-Control") == "no-store" {
		t.Errorf("the database is back: %v", w.Header())
	}
	down.Store(true)
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(2 * time.Minute)
	if w := b.send("GET", "/api/polymarket/featured", ""); field(w, "source") != "cache" || w.Header().Get("X-Degraded") != "db" {
		t.Errorf("both are away: %v %s", w.Header(), w.Body)
	}
}
