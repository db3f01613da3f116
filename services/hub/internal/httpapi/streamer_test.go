package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
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
	b := setup(t)
	golden(t, "onair/me_unregistered", b.send("GET", meURL, "", b.bySession()))
	body := `{"displayName":"Mara K","bio":"Rivers.","lanes":["science","SPORT"],"links":["https://m.example"],"handle":"tidewatch"}`
	golden(t, "onair/registered", b.send("POST", registerURL, body, b.bySession()))
	golden(t, "onair/registered_again", b.send("POST", registerURL, `{"displayName":"Another name","lanes":["tech"]}`, b.bySession()))
	want(t, b.send("POST", registerURL, `{"bio":"`+strings.Repeat("b", 281)+`"}`, b.bySession()), 400, "invalid_bio") // checked although it is not stored
	has(t, b.send("GET", profilePath+"?handle=mara_k", ""), `"displayName":"Mara K"`, `"lanes":["science","sports"]`)
	golden(t, "onair/approved", b.send("POST", approveURL, `{"handle":"Mara_K","status":"approved"}`, byAdmin()))
	want(t, b.send("POST", registerURL, "", b.bySession()), 200, "", "status=approved")
	for handle, want := range map[protocol.Handle]livestream.Status{"mara_k": livestream.Approved, "unknown_one": livestream.Unregistered} {
		if one, err := b.deps.OnAir.Store.Streamer(t.Context(), handle); err != nil || one.Status != want {
			t.Errorf("%s: %v %v, want %s", handle, one, err, want)
		}
	}
	want(t, b.send("POST", profilePath, `{"lanes":[]}`, b.byKey()), 200, "")
	has(t, b.send("GET", profilePath+"?handle=mara_k", ""), `"lanes":[]`)
}

func TestRegisterMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, code := range map[string]string{
		`{"displayName":""}`: "invalid_display_name", `{"displayName":"` + strings.Repeat("x", 65) + `"}`: "invalid_display_name",
		`{"bio":"` + strings.Repeat("x", 281) + `"}`: "invalid_bio", `{"links":["http://m.example"]}`: "invalid_links",
		`{"lanes":["hopscotch"]}`: "invalid_lanes", `{"lanes":["tech","TECH"]}`: "invalid_lanes", `{"lanes":"tech"}`: "invalid_lanes",
		`{"lanes":["tech","news","film","tv","crypto","music"]}`: "invalid_lanes", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", registerURL, body, b.bySession()), 400, code)
	}
	for body, code := range map[string]string{
		`{}`: "missing_handle", `{"handle":"x"}`: "invalid_handle", `{"handle":"mara_k"}`: "missing_status",
		`{"handle":"mara_k","status":"none"}`: "invalid_status", `{"handle":"mara_k","status":"great"}`: "invalid_status",
	} {
		want(t, b.send("POST", approveURL, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", approveURL, `{"handle":"no_such_user","status":"approved"}`, byAdmin()), 404, "not_found")
	equal(t, b.count("hub.streamer_profiles"), 0)
}

// TestSuspended checks that a suspended operator is not live and cannot go live.
func TestSuspended(t *testing.T) {
	t.Parallel()
	b := setup(t)
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

// TestSuspendedOperatorIsHidden checks that a suspended operator cannot bind a stream or set an overlay. The operator's streams,
// overlay and clips are hidden until the suspension ends.
func TestSuspendedOperatorIsHidden(t *testing.T) {
	t.Parallel()
	b := setup(t)
	overlay := `{"marketId":"701122","name":"Ostrava"}`
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, overlay, b.byKey()), 200, "")
	b.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), 'mara_k', '701122', 'https://video.example/c.m3u8', 30, 'ready', 'mara_k', now(), now())`)
	has(t, b.send("GET", liveURL, ""), `"approved":false`)
	// shows sets the status of the operator and checks that each list has n entries of the operator.
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
	has(t, b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId=")
	has(t, b.send("GET", stateURL, ""), "state=idle", "hlsUrl=", "showId=")
	has(t, b.send("GET", liveURL, ""), `={"live":[],"recent":[]}`)
	shows(1, "pending")
}

func TestStreamState(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
	golden(t, "onair/state_never_live", b.send("GET", stateURL, ""))
	golden(t, "onair/state_unknown_handle", b.send("GET", "/api/streamer/stream/state?handle=no_such_user", ""))
	want(t, b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), 200, "")
	golden(t, "onair/state_without_a_stream", b.send("GET", stateURL, ""))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", viewURL, ""), 200, "")
	w := b.send("GET", stateURL, "")
	golden(t, "onair/state_live", w)
	b.unchanged(stateURL, w)
	want(t, b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava"}`, b.byKey()), 200, "")
	golden(t, "onair/me_live", b.send("GET", meURL, "", b.byKey()))
	has(t, b.send("GET", "/api/operator/mara_k", ""),
		`"live":true,"approved":false,"liveSignal":{"marketId":"701122","name":"Ostrava","yesPct":31.5,"slug":"ostrava-gauge-6m"}`)
	has(t, b.send("GET", profilePath+"?handle=mara_k", ""), "live=true")
	b.clock.Advance(20 * time.Second)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	golden(t, "onair/state_ended", b.send("GET", stateURL, ""))
	golden(t, "onair/me_ended", b.send("GET", meURL, "", b.byKey()))
	b.clock.Advance(24 * time.Hour)
	has(t, b.send("GET", stateURL, ""), "state=idle", "showId=")
	// Without a stream, the operator is not live, but the session continues.
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	want(t, b.send("DELETE", streamsURL, "", b.byKey()), 200, "")
	if w := b.send("GET", liveURL, ""); !strings.HasPrefix(w.Body.String(), `{"live":[]`) {
		t.Errorf("without a stream: %s", w.Body)
	}
	has(t, b.send("GET", stateURL, ""), "state=idle", "!showId=")
	want(t, b.send("GET", "/api/streamer/stream/state", ""), 400, "missing_handle")
	want(t, b.send("GET", "/api/streamer/stream/state?handle=..", ""), 404, "not_found")
}

// TestReceiptsNameTheSides checks that the calls of a broadcast have the names of the sides, unless they are Yes and No.
func TestReceiptsNameTheSides(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
	want(t, b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), 200, "")
	b.file("NO", 6400, b.byKey())
	if w := b.send("GET", receiptsURL, "").Body.String(); !strings.Contains(w, `"direction":"NO"`) || strings.Contains(w, "sides") {
		t.Errorf("the answer is %s; want a call without sides", w)
	}
	b.ledger.Exec(`UPDATE markets SET outcome_labels = '{Slate City,"Ochre <Rovers>"}', yes_index = 1 WHERE market_id = '701122'`)
	b.clock.Advance(time.Minute)
	has(t, b.send("GET", receiptsURL, ""), `"direction":"NO"`, `"sides":{"yes":"Ochre <Rovers>","no":"Slate City"}`)
}

func TestReceiptsAndRecap(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
	golden(t, "onair/receipts_none", b.send("GET", receiptsURL, ""))
	golden(t, "onair/recap_none", b.send("GET", recapURL, ""))
	golden(t, "onair/receipts_unknown_handle", b.send("GET", "/api/streamer/receipts?handle=no_such_user", ""))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	show := field(b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), "showId")
	sampler := livestream.NewSampler(b.deps.OnAir, b.deps.Ledger.FeedWrites)
	for i := range 4 { // 1, 2, 3 and 3 viewers
		if i < 3 {
			want(t, b.send("POST", viewURL, fmt.Sprintf(`{"viewerId":"v%d"}`, i)), 200, "")
		}
		must(t, sampler.Round(t.Context()))
		b.clock.Advance(5 * time.Second)
	}
	b.file("NO", 6400, b.byKey())
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"701122","outcome":"NO"}`, byAdmin()), 200, "")
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
	want(t, b.send("GET", analyticsURL+"?window=28d&handle=MARA_K", "", byAdmin()), 200, "", "window=28d", "sessions=1")
	want(t, b.send("GET", analyticsURL+"?handle=tidewatch", "", b.byKey()), 403, "forbidden")
	want(t, b.send("GET", analyticsURL, "", byAdmin()), 400, "missing_handle")
	want(t, b.send("GET", analyticsURL+"?handle=x", "", byAdmin()), 400, "invalid_handle")
	want(t, b.send("GET", analyticsURL+"?handle=no_such_user", "", byAdmin()), 404, "not_found")
	b.clock.Advance(25 * time.Hour)
	has(t, b.send("GET", analyticsURL+"?window=nonsense", "", b.byKey()), "window=24h", "sessions=0", `"series":[]`)
}

// TestRecapOfAnOverlayHasTheTitleOfTheLedger (docs/guarantees.md P10) checks that the recap has the market title of the ledger,
// or the market id if the ledger does not have the market.
func TestRecapOfAnOverlayHasTheTitleOfTheLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for market, title := range map[string]string{marketID: "Will the Ostrava gauge read above 6 m before 1 December?", "999": "999"} {
		want(t, b.send("POST", overlayURL, object("marketId", market, "name", "A question of the operator?"), b.byKey()), 200, "")
		want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
		b.clock.Advance(time.Second)
		for _, state := range []string{"live", "offline"} {
			want(t, b.send("POST", beatURL, `{"state":"`+state+`"}`, b.byKey()), 200, "")
			has(t, b.send("GET", recapURL, ""), `"topMarket":{"marketId":"`+market+`","title":"`+title+`"}`)
		}
	}
}
