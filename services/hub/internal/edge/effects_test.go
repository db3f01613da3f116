package edge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// keeper is a signer of an app with every scope: no key may sign these types.
func (b *bench) keeper(name string) *pen {
	b.t.Helper()
	a := b.register("public", "scopes", `["signer:create","profile:update","market:create","resolution:create","station:create","station:update","broadcast:create","broadcast:goLive","signal:create","prediction:create"]`)
	w := b.redeem(a, b.approve(a.asking("scope", "signer:create profile:update market:create resolution:create station:create station:update broadcast:create broadcast:goLive signal:create prediction:create")).Query().Get("code"))
	want(b.t, w, 200, "")
	p := b.newPen(name)
	p.appID = a.ID
	want(b.t, p.register(bearer(field(w, "access_token")), "profile:update", "market:create", "resolution:create", "station:create",
		"station:update", "broadcast:create", "broadcast:goLive", "signal:create", "prediction:create"), 201, "")
	return p
}

func TestEffectsOfMessages(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.keeper("of the app")

	raw := p.write("profile.update", map[string]any{"displayName": "Mara", "bio": "rivers", "avatar": nil, "links": []string{"https://m.example"}, "payoutAddress": "0x" + strings.Repeat("ab", 20)})
	want(t, b.submit(raw), 201, "")
	if b.mara.GetDisplayName() != "Mara" || b.mara.GetBio() != "rivers" || len(b.mara.GetLinks()) != 1 || b.mara.GetPayoutAddress() == "" {
		t.Errorf("the profile: %v", b.mara)
	}

	market := map[string]any{"question": "Will the mill race be dry?", "cutoffAt": "2026-10-18T12:00:00.000Z", "lane": "SCIENCE", "initialYesBps": 4000}
	raw = p.write("market.create", market)
	w := b.submit(raw)
	want(t, w, 201, "")
	id := "native-0000000003"
	if m := b.ledger.Markets[id]; m == nil || m.GetYesBps() != 4000 || !strings.Contains(w.Body.String(), `"result":{"marketId":"`+id+`"}`) {
		t.Fatalf("the market: %v %s", m, w.Body)
	}
	want(t, b.submit(raw), 200, "")
	for range 4 {
		want(t, b.submit(p.write("market.create", market)), 201, "")
	}
	w = b.submit(p.write("market.create", market))
	if want(t, w, 429, "rate_limited"); field(w, "limit") != "5" {
		t.Errorf("the sixth of a day: %s", w.Body)
	}

	proposal := map[string]any{"marketId": id, "verdict": "NO", "reason": "it rained"}
	want(t, b.submit(p.write("resolution.create", proposal)), 201, "")
	if !b.ledger.Markets[id].GetProvisional() {
		t.Error("the market is not provisional")
	}
	proposal["marketId"] = nativeID // not hers
	want(t, b.submit(p.write("resolution.create", proposal)), 403, "forbidden")
	proposal["marketId"] = "native-00000000zz"
	want(t, b.submit(p.write("resolution.create", proposal)), 404, "market_not_found")
	proposal["marketId"] = marketID // a venue's: no payload of this type
	reason(t, b.submit(p.write("resolution.create", proposal)), 400, "invalid_request", message.ReasonPayload)
	// Attestation members are the hub's alone.
	proposal["marketId"], proposal["resolver"], proposal["source"] = id, "admin", "native"
	reason(t, b.submit(p.write("resolution.create", proposal)), 400, "invalid_request", message.ReasonPayload)
}

// Messages of broadcasts are checked and kept; nothing else comes of
// them here.
func TestMessagesWithoutAnEffect(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.keeper("of the app")
	calls := len(b.ledger.Calls)
	for kind, c := range map[string]struct{ good, bad map[string]any }{
		"broadcast.create": {map[string]any{"title": "Night desk"}, map[string]any{}},
		"broadcast.goLive": {
			map[string]any{"broadcastId": "0199f0a4-0000-7000-8000-000000000001", "url": "https://video.example/a.m3u8"},
			map[string]any{"broadcastId": "x", "url": "https://video.example/a.m3u8"},
		},
	} {
		b.clock.Advance(time.Second)
		w := b.submit(p.write(kind, c.good))
		if want(t, w, 201, ""); strings.Contains(w.Body.String(), `"result"`) {
			t.Errorf("%s: %s", kind, w.Body)
		}
		reason(t, b.submit(p.write(kind, c.bad)), 400, "invalid_request", message.ReasonPayload)
	}
	if len(b.ledger.Calls) != calls {
		t.Errorf("the ledger was asked: %v", b.ledger.Calls)
	}
}

// A station is registered and changed by messages, each once.
func TestEffectsOfStationMessages(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	raw := p.write("station.create", map[string]any{"stationId": "tide", "name": "Tide", "url": "https://t.example", "lanes": []string{"SCIENCE"}})
	w := b.submit(raw)
	if want(t, w, 201, ""); !strings.Contains(w.Body.String(), `"result":{"stationId":"tide"}`) || b.ledger.Stations["tide"].GetName() != "Tide" {
		t.Errorf("%s", w.Body)
	}
	want(t, b.submit(raw), 200, "")
	want(t, b.submit(p.write("station.create", map[string]any{"stationId": "tide", "name": "Ebb", "url": "https://e.example"})), 409, "station_exists")
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "name": "Ebb"})), 201, "")
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "nobody", "name": "Ebb"})), 404, "not_found")
	b.ledger.Stations["tide"].Owner = "somebody else"
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "name": "Mine"})), 403, "forbidden")
	reason(t, b.submit(p.write("station.create", map[string]any{"stationId": "T"})), 400, "invalid_request", message.ReasonPayload)
	reason(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "status": "gone"})), 400, "invalid_request", message.ReasonPayload)
	if name := b.ledger.Stations["tide"].GetName(); name != "Ebb" {
		t.Errorf("the station is called %s", name)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 2 {
		t.Errorf("%d messages are kept", n)
	}
}

func TestMachinesMakeNoMarkets(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","operatorType":"ai_agent"}`, byAdmin()), 200, "")
	want(t, b.submit(p.write("market.create", map[string]any{"question": "Will the mill race be dry?", "cutoffAt": "2026-10-18T12:00:00.000Z", "lane": "SCIENCE"})), 403, "forbidden")
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 0 {
		t.Errorf("%d messages are kept", n)
	}
}
