package edge_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/station"
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

	raw := p.write("profile.update", map[string]any{"displayName": "Mara", "bio": "rivers", "avatar": nil, "links": []string{"https://m.example"}})
	want(t, b.submit(raw), 201, "")
	if b.mara.GetDisplayName() != "Mara" || b.mara.GetBio() != "rivers" || len(b.mara.GetLinks()) != 1 {
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

// A broadcast is announced and goes live by messages, each once, and its stream is bound.
func TestEffectsOfBroadcastMessages(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	calls := len(b.ledger.Calls)
	raw := p.write("broadcast.create", map[string]any{"title": "Night desk", "marketId": marketID, "lane": "SCIENCE", "scheduledFor": "2026-09-18T20:00:00.000Z"})
	w := b.submit(raw)
	want(t, w, 201, "")
	id := broadcastOf(t, w)
	if again := b.submit(raw); again.Code != 200 || broadcastOf(t, again) != id || count(t, db, `SELECT count(*) FROM hub.broadcasts`) != 1 {
		t.Errorf("once more: %d %s", again.Code, again.Body)
	}
	bare := p.write("broadcast.create", map[string]any{"title": "No market"})
	w = b.submit(bare)
	want(t, w, 201, "")
	without := broadcastOf(t, w)

	live := p.write("broadcast.goLive", map[string]any{"broadcastId": id, "url": "https://video.example/a.m3u8", "label": "night"})
	w = b.submit(live)
	if want(t, w, 201, ""); !strings.Contains(w.Body.String(), `"result":{"showId":"`) {
		t.Errorf("%s", w.Body)
	}
	want(t, b.submit(live), 200, "")
	if n := count(t, db, `SELECT count(*) FROM hub.live_sessions WHERE handle = 'mara_k' AND hls_url = 'https://video.example/a.m3u8'`); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.streams WHERE market_id = '701122' AND handle = 'mara_k' AND label = 'night'`); n != 1 {
		t.Errorf("%d streams are bound", n)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.broadcasts WHERE state = 'live'`); n != 1 {
		t.Errorf("%d broadcasts are live", n)
	}
	// Without a market the stream is the session's own, and the session goes on.
	want(t, b.submit(p.write("broadcast.goLive", map[string]any{"broadcastId": without, "url": "https://video.example/b.m3u8"})), 201, "")
	if n := count(t, db, `SELECT count(*) FROM hub.live_sessions WHERE hls_url = 'https://video.example/b.m3u8'`); n != 1 {
		t.Errorf("%d sessions with a stream of their own", n)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.live_sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
	w = b.send("GET", "/api/protocol/v1/passports/mara_k", "")
	if want(t, w, 200, ""); !strings.Contains(w.Body.String(), `"broadcasts":1`) {
		t.Errorf("the passport: %s", w.Body)
	}
	if n := len(b.ledger.Calls); n == calls {
		t.Error("no market was asked for")
	}
}

// A go-live by a key is attested by the hub, once for its session; one by a session of
// our own pages is not.
func TestGoLiveByKeyIsAttested(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")))
	bind := func(url string) {
		t.Helper()
		if err := store.Bind(t.Context(), station.Stream{MarketID: marketID, Handle: "mara_k", URL: url, UpdatedAt: b.clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	attested := func() int {
		return count(t, db, `SELECT count(*) FROM hub.messages WHERE attested AND type = 'broadcast.goLive'`)
	}
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	if n := attested(); n != 0 {
		t.Errorf("%d without a stream", n)
	}
	bind(playURL)
	for range 2 {
		want(t, b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), 200, "")
	}
	if n := attested(); n != 1 {
		t.Errorf("%d are attested", n)
	}
	w := b.send("GET", "/api/protocol/v1/messages?type=broadcast.goLive", "")
	if want(t, w, 200, ""); !strings.Contains(w.Body.String(), `"url":"`+playURL+`"`) || !strings.Contains(w.Body.String(), `"marketId":"701122"`) || !strings.Contains(w.Body.String(), `"attested":true`) {
		t.Errorf("%s", w.Body)
	}
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", beatURL, `{}`, b.bySession()), 200, "")
	if n, due := attested(), count(t, db, `SELECT count(*) FROM hub.attestations_due`); n != 1 || due != 0 {
		t.Errorf("%d are attested and %d are due", n, due)
	}
}

// What does not fit is refused and leaves nothing behind.
func TestBroadcastMessagesThatAreNone(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	w := b.submit(p.write("broadcast.create", map[string]any{"title": "Night desk"}))
	want(t, w, 201, "")
	id := broadcastOf(t, w)
	go1 := func(members ...any) string {
		payload := map[string]any{"broadcastId": id, "url": "https://video.example/a.m3u8"}
		for i := 0; i < len(members); i += 2 {
			payload[members[i].(string)] = members[i+1]
		}
		return p.write("broadcast.goLive", payload)
	}
	reason(t, b.submit(p.write("broadcast.create", map[string]any{})), 400, "invalid_request", message.ReasonPayload)
	want(t, b.submit(p.write("broadcast.create", map[string]any{"title": "x", "marketId": "999"})), 404, "market_not_found")
	reason(t, b.submit(go1("broadcastId", "x")), 400, "invalid_request", message.ReasonPayload)
	reason(t, b.submit(go1("url", "https://elsewhere.example/a.m3u8")), 400, "invalid_request", message.ReasonPayload)
	want(t, b.submit(go1("broadcastId", "0199f0a4-0000-7000-8000-000000000001")), 404, "not_found")
	want(t, b.submit(go1("marketId", "999")), 404, "market_not_found")
	if _, err := testkit.Pool(t, db.Admin).Exec(t.Context(), `UPDATE hub.broadcasts SET owner = gen_random_uuid()`); err != nil {
		t.Fatal(err)
	}
	want(t, b.submit(go1()), 403, "forbidden")
	if _, err := testkit.Pool(t, db.Admin).Exec(t.Context(), `UPDATE hub.broadcasts SET owner = $1`, b.mara.GetId()); err != nil {
		t.Fatal(err)
	}
	want(t, b.send("POST", "/api/admin/streamers", `{"handle":"mara_k","status":"suspended"}`, byAdmin()), 200, "")
	want(t, b.submit(go1()), 403, "not_approved")
	if n := count(t, db, `SELECT count(*) FROM hub.live_sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 1 {
		t.Errorf("%d messages are kept", n)
	}
}

func broadcastOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	_, rest, found := strings.Cut(w.Body.String(), `"result":{"broadcastId":"`)
	if id, _, _ := strings.Cut(rest, `"`); found && len(id) == 36 {
		return id
	}
	t.Fatalf("no broadcast: %s", w.Body)
	return ""
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
