package edge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

const (
	registerURL  = "/api/streamer/register"
	meURL        = "/api/streamer/me"
	approveURL   = "/api/admin/streamers"
	stateURL     = "/api/streamer/stream/state?handle=mara_k"
	receiptsURL  = "/api/streamer/receipts?handle=mara_k"
	recapURL     = "/api/streamer/recap?handle=mara_k"
	analyticsURL = "/api/streamer/analytics"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	golden(t, "onair/me_nobody", b.send("GET", meURL, "", b.bySession()))
	body := `{"displayName":"Mara K","bio":"Rivers.","lanes":["science","SPORT"],"links":["https://m.example"],"handle":"tidewatch"}`
	golden(t, "onair/registered", b.send("POST", registerURL, body, b.bySession()))
	golden(t, "onair/registered_again", b.send("POST", registerURL, `{"displayName":"Somebody else","lanes":["tech"]}`, b.bySession()))
	want(t, b.send("POST", registerURL, `{"bio":"`+strings.Repeat("b", 281)+`"}`, b.bySession()), 400, "invalid_bio") // kept or not, it has to fit
	if w := b.send("GET", profilePath+"?handle=mara_k", ""); !strings.Contains(w.Body.String(), `"displayName":"Mara K"`) || !strings.Contains(w.Body.String(), `"lanes":["science","sports"]`) {
		t.Errorf("the profile: %s", w.Body)
	}
	golden(t, "onair/approved", b.send("POST", approveURL, `{"handle":"Mara_K","status":"approved"}`, byAdmin()))
	if w := b.send("POST", registerURL, "", b.bySession()); w.Code != 200 || field(w, "status") != "approved" {
		t.Errorf("registered once more: %d %s", w.Code, w.Body)
	}
	if ok, err := b.deps.OnAir.Approved(t.Context(), "mara_k"); err != nil || !ok {
		t.Errorf("approved: %v %v", ok, err)
	}
	if ok, err := b.deps.OnAir.Approved(t.Context(), "nobody_there"); err != nil || ok {
		t.Errorf("nobody is approved: %v %v", ok, err)
	}
	want(t, b.send("POST", profilePath, `{"lanes":[]}`, b.byKey()), 200, "")
	if w := b.send("GET", profilePath+"?handle=mara_k", ""); !strings.Contains(w.Body.String(), `"lanes":[]`) {
		t.Errorf("no lanes: %s", w.Body)
	}
}

func TestRegisterMistakes(t *testing.T) {
	t.Parallel()
	store, db := stored(t)
	b := setup(t, store)
	for body, code := range map[string]string{
		`{"displayName":""}`: "invalid_display_name", `{"displayName":"` + strings.Repeat("x", 65) + `"}`: "invalid_display_name",
		`{"bio":"` + strings.Repeat("x", 281) + `"}`: "invalid_bio", `{"links":["http://m.example"]}`: "invalid_links",
		`{"lanes":["hopscotch"]}`: "invalid_lanes", `{"lanes":["tech","TECH"]}`: "invalid_lanes", `{"lanes":"tech"}`: "invalid_lanes",
		`{"lanes":["tech","news","film","tv","crypto","music"]}`: "invalid_lanes", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", registerURL, body, b.bySession()), 400, code)
	}
	want(t, b.send("POST", registerURL, `{}`), 401, "unauthenticated")
	want(t, b.send("POST", registerURL, `{}`, b.byKey()), 401, "unauthenticated")
	want(t, b.send("POST", registerURL, `{}`, with("Cookie", b.cookie)), 403, "forbidden")
	for body, code := range map[string]string{
		`{}`: "missing_handle", `{"handle":"x"}`: "invalid_handle", `{"handle":"mara_k"}`: "missing_status",
		`{"handle":"mara_k","status":"none"}`: "invalid_status", `{"handle":"mara_k","status":"great"}`: "invalid_status",
	} {
		want(t, b.send("POST", approveURL, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", approveURL, `{"handle":"nobody_there","status":"approved"}`, byAdmin()), 404, "not_found")
	want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"approved"}`, b.bySession()), 401, "unauthenticated")
	want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"approved"}`, with("X-Admin-Secret", "no")), 403, "forbidden")
	var n int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM hub.streamer_profiles`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
	want(t, b.send("GET", meURL, ""), 401, "unauthenticated")
}

// TestSuspended: who is suspended goes off the air at once and stays off.
func TestSuspended(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.clock.Advance(10 * time.Second)
	golden(t, "onair/suspended", b.send("POST", approveURL, `{"handle":"mara_k","status":"suspended"}`, byAdmin()))
	golden(t, "onair/live_suspended", b.send("GET", liveURL, ""))
	golden(t, "onair/beat_suspended", b.send("POST", beatURL, "", b.byKey()))
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"approved"}`, byAdmin()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
}

// TestSuspendedOperatorIsHidden: a suspended operator can bind no stream and set no overlay,
// and its bindings, overlay and clips are hidden until the suspension ends.
func TestSuspendedOperatorIsHidden(t *testing.T) {
	t.Parallel()
	store, admin := stored(t)
	b := setup(t, store)
	overlay := `{"marketId":"701122","name":"Ostrava"}`
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, overlay, b.byKey()), 200, "")
	_, err := admin.Exec(t.Context(), `INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), 'mara_k', '701122', 'https://video.example/c.m3u8', 30, 'ready', 'mara_k', now(), now())`)
	if err != nil {
		t.Fatal(err)
	}
	if w := b.send("GET", liveURL, ""); !strings.Contains(w.Body.String(), `"approved":false`) {
		t.Errorf("the live list without an approval: %s", w.Body)
	}
	// shows counts what each list has of the operator.
	shows := func(n int, status string) {
		t.Helper()
		b.clock.Advance(time.Minute)
		want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"`+status+`"}`, byAdmin()), 200, "")
		for _, path := range []string{streamsURL, "/api/m/701122/clips"} {
			if w := b.send("GET", path, ""); w.Code != 200 || strings.Count(w.Body.String(), `"handle":"mara_k"`) != n {
				t.Errorf("%s while %s: %s", path, status, w.Body)
			}
		}
	}
	shows(1, "approved")
	shows(0, "suspended")
	for url, sent := range map[string]string{streamsURL: bound(playURL), overlayURL: overlay, beatURL: ""} {
		want(t, b.send("POST", url, sent, b.byKey()), 403, "not_approved")
	}
	if w := b.send("GET", overlayURL+"?handle=mara_k", ""); field(w, "marketId") != "" {
		t.Errorf("the overlay: %s", w.Body)
	}
	if w := b.send("GET", stateURL, ""); field(w, "state") != "idle" || field(w, "hlsUrl") != "" || field(w, "showId") != "" {
		t.Errorf("the state: %s", w.Body)
	}
	if w := b.send("GET", liveURL, ""); w.Body.String() != `{"live":[],"recent":[]}` {
		t.Errorf("the live list: %s", w.Body)
	}
	shows(1, "pending")
}

func TestStreamState(t *testing.T) {
	t.Parallel()
	b := setup(t, watched(t))
	golden(t, "onair/state_nobody", b.send("GET", stateURL, ""))
	golden(t, "onair/state_nobody_there", b.send("GET", "/api/streamer/stream/state?handle=nobody_there", ""))
	want(t, b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), 200, "")
	golden(t, "onair/state_without_a_stream", b.send("GET", stateURL, ""))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", viewURL, ""), 200, "")
	w := b.send("GET", stateURL, "")
	golden(t, "onair/state_live", w)
	if again := b.send("GET", stateURL, "", with("If-None-Match", w.Header().Get("Etag"))); again.Code != 304 {
		t.Errorf("the same state: %d", again.Code)
	}
	want(t, b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava"}`, b.byKey()), 200, "")
	golden(t, "onair/me_live", b.send("GET", meURL, "", b.byKey()))
	if w := b.send("GET", "/api/operator/mara_k", ""); !strings.Contains(w.Body.String(), `"live":true,"approved":false,"liveSignal":{"marketId":"701122","name":"Ostrava","yesPct":31.5,"slug":"ostrava-gauge-6m"}`) {
		t.Errorf("the atom: %s", w.Body)
	}
	if w := b.send("GET", profilePath+"?handle=mara_k", ""); field(w, "live") != "true" {
		t.Errorf("the profile: %s", w.Body)
	}
	b.clock.Advance(20 * time.Second)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	golden(t, "onair/state_ended", b.send("GET", stateURL, ""))
	golden(t, "onair/me_ended", b.send("GET", meURL, "", b.byKey()))
	b.clock.Advance(24 * time.Hour)
	if w := b.send("GET", stateURL, ""); field(w, "state") != "idle" || field(w, "showId") != "" {
		t.Errorf("a day later: %s", w.Body)
	}
	// Without its stream an operator is off the air at once, and its session goes on.
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	want(t, b.send("DELETE", streamsURL, "", b.byKey()), 200, "")
	if w := b.send("GET", liveURL, ""); !strings.HasPrefix(w.Body.String(), `{"live":[]`) {
		t.Errorf("without a stream: %s", w.Body)
	}
	if w := b.send("GET", stateURL, ""); field(w, "state") != "idle" || field(w, "showId") == "" {
		t.Errorf("without a stream: %s", w.Body)
	}
	want(t, b.send("GET", "/api/streamer/stream/state", ""), 400, "missing_handle")
	want(t, b.send("GET", "/api/streamer/stream/state?handle=..", ""), 404, "not_found")
}

// result gives the newest call of the ledger its result.
func (b *bench) result(id, status string, score int32) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	for _, f := range b.ledger.Signals {
		if f.Signal.GetId() == id {
			f.Signal.Status, f.Signal.Score, f.Signal.Counted = status, proto.Int32(score), proto.Bool(status != "void")
		}
	}
}

func TestReceiptsAndRecap(t *testing.T) {
	t.Parallel()
	b := setup(t, watched(t))
	golden(t, "onair/receipts_none", b.send("GET", receiptsURL, ""))
	golden(t, "onair/recap_none", b.send("GET", recapURL, ""))
	golden(t, "onair/receipts_of_nobody", b.send("GET", "/api/streamer/receipts?handle=nobody_there", ""))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	show := field(b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), "showId")
	sampler := onair.NewSampler(b.deps.OnAir, b.deps.Ledger.FeedWrites)
	for i := range 4 { // 1, 2, 3 and 3 viewers
		if i < 3 {
			want(t, b.send("POST", viewURL, fmt.Sprintf(`{"viewerId":"v%d"}`, i)), 200, "")
		}
		if err := sampler.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(5 * time.Second)
	}
	call := b.file("NO", 6400, b.byKey())
	b.result(call, "won", 36)
	b.clock.Advance(10 * time.Second)
	golden(t, "onair/receipts", b.send("GET", receiptsURL, ""))
	b.clock.Advance(10 * time.Second)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	b.clock.Advance(time.Minute)
	golden(t, "onair/recap", b.send("GET", recapURL, ""))
	golden(t, "onair/recap_named", b.send("GET", recapURL+"&showId="+strings.ToUpper(show), ""))
	want(t, b.send("GET", recapURL+"&showId=0199f0a4-0000-7000-8000-0000000000ff", ""), 404, "not_found")
	want(t, b.send("GET", recapURL+"&showId=x", ""), 404, "not_found")
	want(t, b.send("GET", "/api/streamer/recap?handle=tidewatch&showId="+show, ""), 404, "not_found")
	for _, path := range []string{"/api/streamer/receipts", "/api/streamer/recap"} {
		want(t, b.send("GET", path, ""), 400, "missing_handle")
		want(t, b.send("GET", path+"?handle=%00", ""), 404, "not_found")
	}
	golden(t, "onair/analytics", b.send("GET", analyticsURL, "", b.byKey()))
	golden(t, "onair/analytics_week", b.send("GET", analyticsURL+"?window=7d&handle=mara_k", "", b.bySession()))
	if w := b.send("GET", analyticsURL+"?window=28d&handle=MARA_K", "", byAdmin()); w.Code != 200 || field(w, "window") != "28d" || field(w, "sessions") != "1" {
		t.Errorf("an admin: %d %s", w.Code, w.Body)
	}
	want(t, b.send("GET", analyticsURL+"?handle=tidewatch", "", b.byKey()), 403, "forbidden")
	want(t, b.send("GET", analyticsURL, "", byAdmin()), 400, "missing_handle")
	want(t, b.send("GET", analyticsURL+"?handle=x", "", byAdmin()), 400, "invalid_handle")
	want(t, b.send("GET", analyticsURL+"?handle=nobody_there", "", byAdmin()), 404, "not_found")
	want(t, b.send("GET", analyticsURL, ""), 401, "unauthenticated")
	want(t, b.send("GET", analyticsURL+"?handle=mara_k", "", with("X-Admin-Secret", "no")), 403, "forbidden")
	b.clock.Advance(25 * time.Hour)
	if w := b.send("GET", analyticsURL+"?window=nonsense", "", b.byKey()); field(w, "window") != "24h" || field(w, "sessions") != "0" || !strings.Contains(w.Body.String(), `"series":[]`) {
		t.Errorf("a day later: %s", w.Body)
	}
}

// Integrity P10: the market of an overlay has the ledger's title in the recap, and its id as the
// title if the ledger does not have it.
func TestRecapOfAnOverlayHasTheTitleOfTheLedger(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	for market, title := range map[string]string{marketID: "Will the Ostrava gauge read above 6 m before 1 December?", "999": "999"} {
		want(t, b.send("POST", overlayURL, object("marketId", market, "name", "A question of the operator?"), b.byKey()), 200, "")
		want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
		b.clock.Advance(time.Second)
		for _, state := range []string{"live", "offline"} {
			want(t, b.send("POST", beatURL, `{"state":"`+state+`"}`, b.byKey()), 200, "")
			w := b.send("GET", recapURL, "")
			if !strings.Contains(w.Body.String(), `"topMarket":{"marketId":"`+market+`","title":"`+title+`"}`) {
				t.Errorf("the recap of a session that is %s on market %s: %d %s", state, market, w.Code, w.Body)
			}
		}
	}
}
