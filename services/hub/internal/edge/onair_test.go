package edge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/audience"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

const (
	overlayURL = "/api/streamer/signal"
	beatURL    = "/api/streamer/heartbeat"
	liveURL    = "/api/streamers/live"
	viewURL    = "/api/live/mara_k/view"
)

// watched is stored, with viewers counted in a Redis.
func watched(t testing.TB) option {
	t.Helper()
	pool := testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw"))
	redis := testkit.KV(t, testkit.Redis(t))
	return func(cfg *edge.Config, d *edge.Deps) {
		keptIn(pool)(cfg, d)
		d.OnAir = newOnAir(d, postgres.New(pool).OnAir(), audience.New(redis))
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	golden(t, "onair/overlay_none", b.send("GET", overlayURL+"?handle=Mara_K", ""))
	full := `{"marketId":"701122","name":"Ostrava gauge above 6 m?","yesPct":31.5,"slug":"ostrava-gauge","annotation":"rain band moving east","closesAt":"2026-11-30T23:00:00Z","streamerId":"tidewatch"}`
	golden(t, "onair/overlay_set", b.send("POST", overlayURL, full, b.bySession()))
	w := b.send("GET", overlayURL+"?handle=MARA_K", "")
	golden(t, "onair/overlay", w)
	if again := b.send("GET", overlayURL+"?handle=mara_k", "", with("If-None-Match", w.Header().Get("Etag"))); again.Code != 304 {
		t.Errorf("the same signal: %d", again.Code)
	}
	// What is left out comes from the market, and what is in doubt is null.
	b.clock.Advance(time.Second)
	golden(t, "onair/overlay_filled", b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava"}`, b.byKey()))
	golden(t, "onair/overlay_unknown_market", b.send("POST", overlayURL, `{"marketId":"999","name":"Somewhere"}`, b.byKey()))
	golden(t, "onair/overlay_cleared", b.send("DELETE", overlayURL, "", b.bySession()))
	golden(t, "onair/overlay_cleared_again", b.send("DELETE", overlayURL, "", b.byKey()))
	golden(t, "onair/overlay_gone", b.send("GET", overlayURL+"?handle=mara_k", ""))
	if w := b.send("GET", overlayURL+"?handle=nobody_there", ""); w.Code != 200 || w.Body.String() != `{"marketId":null}` {
		t.Errorf("of nobody: %d %s", w.Code, w.Body)
	}
	// It ends by itself, unless heartbeats keep it.
	want(t, b.send("POST", overlayURL, full, b.byKey()), 200, "")
	b.clock.Advance(11 * time.Hour)
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.clock.Advance(11 * time.Hour)
	if w := b.send("GET", overlayURL+"?handle=mara_k", ""); field(w, "marketId") != "701122" {
		t.Errorf("kept by a heartbeat: %s", w.Body)
	}
	b.clock.Advance(time.Hour)
	if w := b.send("GET", overlayURL+"?handle=mara_k", ""); field(w, "marketId") != "" {
		t.Errorf("after twelve hours: %s", w.Body)
	}
}

func TestOverlayMistakes(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	body := func(members string) string { return `{"marketId":"701122","name":"x",` + members + `}` }
	for sent, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":""}`: "missing_market_id", `{"marketId":7}`: "invalid_market_id",
		`{"marketId":"polymarket:1"}`: "invalid_market_id", `{"marketId":"701122"}`: "missing_name", `{"marketId":"701122","name":""}`: "missing_name",
		`{"marketId":"701122","name":"` + strings.Repeat("n", 201) + `"}`: "invalid_name",
		`{"marketId":"701122","name":"a\nb"}`:                             "invalid_name", `{"marketId":"701122","name":"\u202ea"}`: "invalid_name", `{"marketId":"701122","name":" \u200b\u3164"}`: "invalid_name",
		body(`"annotation":"a\u0007"`): "invalid_annotation", body(`"annotation":"a\u2029b"`): "invalid_annotation", body(`"annotation":"\u2069a"`): "invalid_annotation", body(`"annotation":" "`): "invalid_annotation",
		body(`"yesPct":-1`): "invalid_yes_pct", body(`"yesPct":100.5`): "invalid_yes_pct", body(`"yesPct":"31"`): "invalid_yes_pct",
		body(`"slug":"Ostrava"`): "invalid_slug", body(`"slug":""`): "invalid_slug", body(`"slug":"` + strings.Repeat("s", 121) + `"`): "invalid_slug",
		body(`"annotation":"` + strings.Repeat("a", 181) + `"`): "invalid_annotation", body(`"closesAt":"tomorrow"`): "invalid_closes_at",
		`[]`: "invalid_body", `{"marketId":"701122","name":"x","name":"y"}`: "invalid_body",
	} {
		b.clock.Advance(2 * time.Second)
		want(t, b.send("POST", overlayURL, sent, b.byKey()), 400, code)
	}
	want(t, b.send("GET", overlayURL, ""), 400, "missing_handle")
	want(t, b.send("GET", overlayURL+"?handle=%00", ""), 404, "not_found")
	for _, method := range []string{"POST", "DELETE"} {
		want(t, b.send(method, overlayURL, body(`"yesPct":1`)), 401, "unauthenticated")
		want(t, b.send(method, overlayURL, body(`"yesPct":1`), byLogin("mara_k")), 401, "unauthenticated")
		want(t, b.send(method, overlayURL, body(`"yesPct":1`), with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	b := setup(t, watched(t))
	golden(t, "onair/live_none", b.send("GET", liveURL, ""))
	golden(t, "onair/beat_first", b.send("POST", beatURL, `{"state":"live","marketId":"701122","bitrateKbps":4500,"viewers":9000}`, b.bySession()))
	golden(t, "onair/live_without_a_stream", b.send("GET", liveURL, ""))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava gauge above 6 m?"}`, b.byKey()), 200, "")
	golden(t, "onair/live", b.send("GET", liveURL, ""))

	b.clock.Advance(30 * time.Second)
	golden(t, "onair/view", b.send("POST", viewURL, "", with("User-Agent", "a")))
	golden(t, "onair/view_named", b.send("POST", "/api/live/MARA_K/view", `{"viewerId":"v-1"}`))
	golden(t, "onair/view_again", b.send("POST", viewURL, `{"viewerId":"v-1"}`))
	golden(t, "onair/beat_again", b.send("POST", beatURL, "", b.byKey()))
	golden(t, "onair/live_watched", b.send("GET", liveURL, ""))

	b.clock.Advance(44 * time.Second)
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	golden(t, "onair/beat_offline", b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()))
	golden(t, "onair/beat_offline_again", b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()))
	golden(t, "onair/live_recent", b.send("GET", liveURL, ""))
	golden(t, "onair/view_offline", b.send("POST", viewURL, ""))

	// A session without a heartbeat ends by itself, 45 seconds behind the last.
	b.clock.Advance(time.Second)
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	b.clock.Advance(45 * time.Second)
	golden(t, "onair/live_lapsed", b.send("GET", liveURL, ""))
	first := field(b.send("POST", beatURL, `{}`, b.byKey()), "showId")
	if w := b.send("GET", liveURL, ""); first == "" || !strings.Contains(w.Body.String(), `"recent":[{"handle":"mara_k","endedAt":"2026-09-18T12:02:00.000Z"`) {
		t.Errorf("the next session %s: %s", first, w.Body)
	}
	b.clock.Advance(24*time.Hour + 2*time.Minute)
	if w := b.send("GET", liveURL, ""); w.Body.String() != `{"live":[],"recent":[]}` {
		t.Errorf("a day later: %s", w.Body)
	}
}

func TestHeartbeatMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t, watched(t))
	for sent, code := range map[string]string{
		`{"state":"on"}`: "invalid_state", `{"state":1}`: "invalid_state", `{"marketId":"x y"}`: "invalid_market_id", `{"marketId":""}`: "missing_market_id",
		`{"bitrateKbps":-1}`: "invalid_bitrate_kbps", `{"bitrateKbps":1.5}`: "invalid_bitrate_kbps", `{"viewers":-1}`: "invalid_viewers",
		`{"viewers":1000000001}`: "invalid_viewers", `[]`: "invalid_body",
	} {
		b.clock.Advance(2 * time.Second)
		want(t, b.send("POST", beatURL, sent, b.byKey()), 400, code)
	}
	want(t, b.send("POST", beatURL, `{}`), 401, "unauthenticated")
	want(t, b.send("POST", beatURL, `{}`, byLogin("mara_k")), 401, "unauthenticated")
	want(t, b.send("POST", beatURL, `{}`, with("Cookie", b.cookie)), 403, "forbidden")
	for sent, code := range map[string]string{
		`{"viewerId":7}`: "invalid_viewer_id", `{"viewerId":"` + strings.Repeat("v", 65) + `"}`: "invalid_viewer_id", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", viewURL, sent), 400, code)
	}
	want(t, b.send("POST", "/api/live/x/view", ""), 404, "not_found")
	want(t, b.send("POST", viewURL, `{}`, b.byKey()), 401, "unauthenticated")
}

// TestViewersOfOneAddress: an address is at most twenty viewers of a stream, each for
// 45 seconds.
func TestViewersOfOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, watched(t))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	for i := range 30 {
		w := b.send("POST", viewURL, fmt.Sprintf(`{"viewerId":"v%d"}`, i))
		if n := field(w, "viewers"); n != fmt.Sprint(min(i+1, 20)) {
			t.Errorf("%d viewers are %s", i+1, n)
		}
	}
	b.clock.Advance(44 * time.Second)
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	if w := b.send("POST", viewURL, `{"viewerId":"v3"}`); field(w, "viewers") != "20" {
		t.Errorf("before their time: %s", w.Body)
	}
	b.clock.Advance(time.Second)
	if w := b.send("POST", viewURL, `{"viewerId":"v29"}`); field(w, "viewers") != "2" {
		t.Errorf("after it: %s", w.Body)
	}
}

// TestOnAirWhenAPartIsAway: reads are empty and say so, writes say what is missing, and
// without Redis nobody watches.
func TestOnAirWhenAPartIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, away(t))
	for name, target := range map[string]string{"overlay_away": overlayURL + "?handle=mara_k", "live_away": liveURL} {
		w := b.send("GET", target, "")
		golden(t, "onair/"+name, w)
		if w.Header().Get("X-Degraded") != "db" || w.Header().Get("Etag") != "" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	want(t, b.send("POST", overlayURL, `{"marketId":"1","name":"x"}`, b.byKey()), 503, "db_unavailable")
	want(t, b.send("DELETE", overlayURL, "", b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", beatURL, "", b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", viewURL, ""), 503, "db_unavailable")

	store, _ := stored(t) // without a Redis
	b = setup(t, store)
	b.setBefore(nil)
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	if w := b.send("POST", beatURL, "", b.byKey()); w.Code != 200 || field(w, "viewers") != "0" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.send("POST", viewURL, ""); w.Code != 200 || field(w, "viewers") != "0" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.send("GET", liveURL, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"viewers":0`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
