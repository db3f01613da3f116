package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

const (
	overlayURL = "/api/streamer/signal"
	beatURL    = "/api/streamer/heartbeat"
	liveURL    = "/api/streamers/live"
	viewURL    = "/api/live/mara_k/view"
)

// countViewers makes the hub count viewers in a Redis that the test starts.
func countViewers(t testing.TB) option {
	t.Helper()
	redis := testkit.KV(t, testkit.Redis(t))
	return func(_ *httpapi.Config, d *httpapi.Deps) {
		d.OnAir = newOnAir(d, d.Links.(*postgres.Store), redis)
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "onair/overlay_none", b.send("GET", overlayURL+"?handle=Mara_K", ""))
	full := `{"marketId":"701122","name":"Ostrava gauge above 6 m?","yesPct":31.5,"slug":"ostrava-gauge","annotation":"rain band moving east","closesAt":"2026-11-30T23:00:00Z","streamerId":"tidewatch"}`
	golden(t, "onair/overlay_set", b.send("POST", overlayURL, full, b.bySession()))
	w := b.send("GET", overlayURL+"?handle=MARA_K", "")
	golden(t, "onair/overlay", w)
	b.unchanged(overlayURL+"?handle=mara_k", w)
	// A missing member is filled from the market. The price of an unknown market is null, and its slug is its id.
	b.clock.Advance(time.Second)
	golden(t, "onair/overlay_filled", b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava"}`, b.byKey()))
	golden(t, "onair/overlay_unknown_market", b.send("POST", overlayURL, `{"marketId":"999","name":"Somewhere"}`, b.byKey()))
	long := "kalshi-" + strings.Repeat("A.b:", 30)
	w = b.send("POST", overlayURL, `{"marketId":"`+long+`","name":"Somewhere"}`, b.byKey())
	want(t, w, 200, "", `"slug":"kalshi-`+strings.Repeat("a-b-", 30)[:113]+`"`)
	golden(t, "onair/overlay_cleared", b.send("DELETE", overlayURL, "", b.bySession()))
	golden(t, "onair/overlay_cleared_again", b.send("DELETE", overlayURL, "", b.byKey()))
	golden(t, "onair/overlay_gone", b.send("GET", overlayURL+"?handle=mara_k", ""))
	want(t, b.send("GET", overlayURL+"?handle=no_such_user", ""), 200, "", `={"marketId":null}`)
	// An overlay expires unless heartbeats extend it.
	want(t, b.send("POST", overlayURL, full, b.byKey()), 200, "")
	b.clock.Advance(11 * time.Hour)
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.clock.Advance(11 * time.Hour)
	has(t, b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId=701122")
	b.clock.Advance(time.Hour)
	has(t, b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId=")
}

func TestOverlayMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
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
}

func TestSession(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
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

	// A session ends 45 seconds after its last heartbeat.
	b.clock.Advance(time.Second)
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	b.clock.Advance(45 * time.Second)
	golden(t, "onair/live_lapsed", b.send("GET", liveURL, ""))
	first := field(b.send("POST", beatURL, `{}`, b.byKey()), "showId")
	if w := b.send("GET", liveURL, ""); first == "" || !strings.Contains(w.Body.String(), `"recent":[{"handle":"mara_k","endedAt":"2026-09-18T12:02:00.000Z"`) {
		t.Errorf("the next session %s: %s", first, w.Body)
	}
	b.clock.Advance(24*time.Hour + 2*time.Minute)
	has(t, b.send("GET", liveURL, ""), `={"live":[],"recent":[]}`)
}

func TestHeartbeatMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
	for sent, code := range map[string]string{
		`{"state":"on"}`: "invalid_state", `{"state":1}`: "invalid_state", `{"marketId":"x y"}`: "invalid_market_id", `{"marketId":""}`: "missing_market_id",
		`{"bitrateKbps":-1}`: "invalid_bitrate_kbps", `{"bitrateKbps":1.5}`: "invalid_bitrate_kbps", `{"viewers":-1}`: "invalid_viewers",
		`{"viewers":1000000001}`: "invalid_viewers", `[]`: "invalid_body",
	} {
		b.clock.Advance(2 * time.Second)
		want(t, b.send("POST", beatURL, sent, b.byKey()), 400, code)
	}
	for sent, code := range map[string]string{
		`{"viewerId":7}`: "invalid_viewer_id", `{"viewerId":"` + strings.Repeat("v", 65) + `"}`: "invalid_viewer_id", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", viewURL, sent), 400, code)
	}
	want(t, b.send("POST", "/api/live/x/view", ""), 404, "not_found")
}

// TestViewersOfOneAddress checks that one IP address counts as at most 20 viewers of a stream. Each viewer counts for 45 seconds.
func TestViewersOfOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, countViewers(t))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	for i := range 30 {
		w := b.send("POST", viewURL, fmt.Sprintf(`{"viewerId":"v%d"}`, i))
		equal(t, field(w, "viewers"), fmt.Sprint(min(i+1, 20)))
	}
	b.clock.Advance(44 * time.Second)
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	has(t, b.send("POST", viewURL, `{"viewerId":"v3"}`), "viewers=20")
	b.clock.Advance(time.Second)
	has(t, b.send("POST", viewURL, `{"viewerId":"v29"}`), "viewers=2")
}

// TestLiveWithoutDependencies checks the live routes while a dependency is unavailable. Without the database, reads are empty and
// degraded, and writes answer 503. Without Redis, the number of viewers is 0.
func TestLiveWithoutDependencies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setDown(true)
	for name, target := range map[string]string{"overlay_unavailable": overlayURL + "?handle=mara_k", "live_unavailable": liveURL} {
		w := b.send("GET", target, "")
		golden(t, "onair/"+name, w)
		has(t, w, "X-Degraded: db", "Etag: ")
	}
	want(t, b.send("POST", overlayURL, `{"marketId":"1","name":"x"}`, b.byKey()), 503, "db_unavailable")
	want(t, b.send("DELETE", overlayURL, "", b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", beatURL, "", b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 503, "db_unavailable")
	want(t, b.send("POST", viewURL, ""), 503, "db_unavailable")
	// Without Redis:
	b = setup(t)
	b.ledger.Fail(nil)
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "", "viewers=0")
	want(t, b.send("POST", viewURL, ""), 200, "", "viewers=0")
	want(t, b.send("GET", liveURL, ""), 200, "", `"viewers":0`)
}

const (
	streamsURL = "/api/m/701122/streams"
	playURL    = "https://video-a.example/live/mara_k/index.m3u8"
)

func bound(url string) string { return fmt.Sprintf(`{"url":%q}`, url) }

func TestStreams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "stations/streams_none", b.send("GET", streamsURL, ""))
	golden(t, "stations/bound", b.send("POST", streamsURL, `{"url":"`+playURL+`","label":"night desk","handle":"tidewatch"}`, b.bySession()))
	b.clock.Advance(time.Minute)
	tide := with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("tidewatch").GetId()))
	golden(t, "stations/bound_bare", b.send("POST", streamsURL, bound("https://video-b.example/t.m3u8?token=1"), tide))
	golden(t, "stations/streams", b.send("GET", streamsURL, ""))
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", streamsURL, bound("https://video-a.example/two.m3u8"), b.byKey()), 200, "")
	w := b.send("GET", streamsURL, "")
	golden(t, "stations/streams_again", w)
	b.unchanged(streamsURL, w)
	if w := b.send("GET", "/api/m/"+nativeID+"/streams", ""); w.Body.String() != "{\"streams\":[]}\n" && w.Body.String() != `{"streams":[]}` {
		t.Errorf("another market: %s", w.Body)
	}
	golden(t, "stations/unbound", b.send("DELETE", streamsURL, "", b.bySession()))
	golden(t, "stations/unbound_again", b.send("DELETE", streamsURL, "", b.byKey()))
	has(t, b.send("GET", streamsURL, ""), "!mara_k", "tidewatch")
}

func TestStreamMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *httpapi.Config, _ *httpapi.Deps) {
		cfg.Videos = []string{"video-a.example", "video-b.example:8443"}
	})
	who := func() header { b.clock.Advance(2 * time.Second); return b.byKey() }
	for body, code := range map[string]string{
		`{}`: "missing_url", `{"url":null}`: "missing_url", `{"url":""}`: "missing_url", `{"url":7}`: "invalid_url", `[]`: "invalid_body",
		`{"url":"` + playURL + `","label":"` + strings.Repeat("l", 81) + `"}`: "invalid_label", `{"url":"` + playURL + `","label":1}`: "invalid_label", `{"url":"` + playURL + `","label":"a\tb"}`: "invalid_label", `{"url":"` + playURL + `","label":" \u200b"}`: "invalid_label",
	} {
		want(t, b.send("POST", streamsURL, body, who()), 400, code)
	}
	for _, url := range []string{
		"http://video-a.example/x.m3u8", "//video-a.example/x.m3u8", "https:///x.m3u8", "https:video-a.example/x.m3u8", "javascript:alert(1)//x.m3u8",
		"https://video-a.example/x.mp4", "https://video-a.example/?x.m3u8", "https://video-a.example/#x.m3u8", "https://video-a.example/x.m3u8#y",
		"https://u:p@video-a.example/x.m3u8", "https://video-a.example@evil.example/x.m3u8", "https://evil.example/x.m3u8",
		"https://video-a.example.evil.example/x.m3u8", "https://video-a.example./x.m3u8", "https://video-a.example:8443/x.m3u8",
		"https://video-b.example/x.m3u8", `https://evil.example\@video-a.example/x.m3u8`, "https://video-a.example/x y.m3u8",
		"https://video-a.example/\u202e.m3u8", "https://127.0.0.1/x.m3u8", "https://video-a.example/" + strings.Repeat("x", 480) + ".m3u8",
	} {
		want(t, b.send("POST", streamsURL, bound(url), who()), 400, "invalid_url", "field=url")
	}
	for _, url := range []string{"https://VIDEO-A.example:443/x.m3u8", "https://video-b.example:8443/a%20b.m3u8?q=%23"} {
		want(t, b.send("POST", streamsURL, bound(url), who()), 200, "")
	}
	for _, method := range []string{"POST", "DELETE"} {
		body := map[string]string{"POST": bound(playURL)}[method]
		for _, id := range []string{"polymarket:701122", "0701122", "x%00", "%2e%2e", "native-"} {
			w := b.send(method, "/api/m/"+id+"/streams", body, who())
			if code := field(w, "error"); w.Code != 400 && w.Code != 404 || code != "invalid_market_id" && code != "not_found" || id[0] == 'p' && w.Code != 400 {
				t.Errorf("%s %s: %d %s", method, id, w.Code, w.Body)
			}
		}
		want(t, b.send(method, "/api/m/999/streams", body, who()), 404, "market_not_found", "marketId=999")
		// An invalid body is reported before an unknown market.
		want(t, b.send("POST", "/api/m/999/streams", `{}`, who()), 400, "missing_url")
	}
}

// TestStreamsWithoutDatabase checks that without the database, lists are empty and degraded, and writes answer 503.
func TestStreamsWithoutDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setDown(true)
	for name, target := range map[string]string{"streams_unavailable": streamsURL, "clips_unavailable": "/api/m/701122/clips"} {
		w := b.send("GET", target, "")
		golden(t, "stations/"+name, w)
		has(t, w, "X-Degraded: db", "Etag: ")
	}
	want(t, b.send("GET", "/api/m/polymarket:1/streams", ""), 404, "not_found")
	want(t, b.send("GET", "/api/m/polymarket:1/clips", ""), 404, "not_found")
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 503, "db_unavailable")
	want(t, b.send("DELETE", streamsURL, "", b.byKey()), 503, "db_unavailable")
	b.ledger.Fail(apitest.ErrDB, "GetMarket")
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 503, "db_unavailable")
}

func TestClips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "stations/clips_none", b.send("GET", "/api/m/999/clips", ""))
	const rows = `INSERT INTO hub.clips (id, handle, market_id, url, thumbnail_url, duration_s, status, stance, views, boosted, created_by, created_at, ready_at)
		SELECT format('0199f0c0-0000-7000-8000-%s', lpad(n::text, 12, '0'))::uuid, 'mara_k', '701122', 'https://video-a.example/clips/' || n || '.m3u8',
			CASE WHEN n % 2 = 0 THEN 'https://video-a.example/t.jpg' END, CASE WHEN n % 2 = 0 THEN 30 END,
			CASE WHEN n % 10 = 9 THEN 'processing' ELSE 'ready' END, CASE WHEN n % 2 = 0 THEN 'NO' END, n, n % 3 = 0, 'tidewatch',
			timestamptz '2026-09-18T10:00:00Z' + n * interval '1 minute', timestamptz '2026-09-18T10:00:30Z' + n * interval '1 minute'
		FROM generate_series(1, 80) n`
	b.ledger.Exec(rows)
	golden(t, "stations/clips", b.send("GET", "/api/m/701122/clips?limit=3", ""))
	for query, count := range map[string]string{
		"": "20", "?limit=0": "20", "?limit=-5": "20", "?limit=x": "20", "?limit=50": "50", "?limit=51": "50", "?limit=99999999999999999999": "50",
	} {
		want(t, b.send("GET", "/api/m/701122/clips"+query, ""), 200, "", "count="+count, "!processing")
	}
	has(t, b.send("GET", "/api/m/"+nativeID+"/clips", ""), "count=0")
}

// newVideo sets the dependencies of streams and clips, with a video provider.
func newVideo(d *httpapi.Deps, provider ingest.Provider, newID func() string) {
	store := d.Links.(*postgres.Store)
	d.Ingest = ingest.NewService(provider, store, newID, d.Now)
	d.Clips = clip.NewService(clip.Deps{
		Air: d.OnAir, Directory: operator.Directory{Ledger: d.Ledger.Operators}, Signals: d.Ledger.Signals, Store: store, Video: true,
		NewID: newID, Now: d.Now, Ingest: d.Ingest,
		Playback: func(h protocol.Handle) string { return "https://video.example/live/" + h.String() + "/index.m3u8" },
	})
}

// studio is a fixture in which mara_k is approved to stream and has a call on market 701122.
type studio struct {
	*fixture
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{}
	s.fixture = setup(t, func(_ *httpapi.Config, d *httpapi.Deps) {
		must(t, d.Links.(*postgres.Store).OnAir().Decide(t.Context(), "mara_k", livestream.Approved, signedIn))
		newVideo(d, ingest.Origin{Base: func() string { return "https://video.example" }}, (&sequence{prefix: "0199f0c0"}).next)
	})
	s.file("NO", 6850, s.byKey())
	return s
}

// live starts or extends the session of mara_k, with a market or without one.
func (s *studio) live(market protocol.MarketID) {
	s.t.Helper()
	url := "https://video.example/live/mara_k/index.m3u8"
	if _, err := s.deps.OnAir.GoLive(s.t.Context(), livestream.GoLive{Handle: "mara_k", MarketID: market, URL: url}); err != nil {
		s.t.Fatal(err)
	}
}

const (
	streamURL = "/api/streamer/stream"
	clipURL   = "/api/live/mara_k/clip"
)

func TestProvisionStream(t *testing.T) {
	t.Parallel()
	b := newStudio(t)
	w := b.send("POST", streamURL, `{"label":"night desk","latency":"low","handle":"tidewatch"}`, byLogin("mara_k"))
	want(t, w, 201, "")
	var said struct {
		Stream struct {
			ID     string
			Ingest struct{ Protocol, URL, StreamKey, PushURL string }
		}
	}
	must(t, json.Unmarshal(w.Body.Bytes(), &said))
	key := said.Stream.Ingest.StreamKey
	if !ingest.IsKey(key) || said.Stream.Ingest.PushURL != "https://video.example/ingest/"+key+"/mara_k/index.m3u8" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", w.Body, w.Header())
	}
	masked := strings.ReplaceAll(w.Body.String(), key, "sk_0123456789abcdefghijABCDEFGHIJ_-")
	w.Body.Reset()
	w.Body.WriteString(masked)
	golden(t, "video/provisioned", w)
	again := b.send("POST", streamURL, "", byLogin("mara_k"))
	want(t, again, 201, "")
	if strings.Contains(again.Body.String(), key) || !strings.Contains(again.Body.String(), said.Stream.ID) || !strings.Contains(again.Body.String(), `"label":""`) {
		t.Errorf("%s", again.Body)
	}
	for body, code := range map[string]string{
		`{"label":"` + strings.Repeat("l", 81) + `"}`: "invalid_label", `{"label":1}`: "invalid_label", `{"label":"\u2066a"}`: "invalid_label", `{"label":"\u3164"}`: "invalid_label", `{"label":"a\u2028b"}`: "invalid_label", `{"latency":"none"}`: "invalid_latency", `{"latency":""}`: "invalid_latency", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", streamURL, body, byLogin("mara_k")), 400, code)
	}
	golden(t, "video/not_approved", b.send("POST", streamURL, `{}`, byLogin("tidewatch")))
	// An invalid body is reported before a missing approval.
	want(t, b.send("POST", streamURL, `{"latency":1}`, byLogin("tidewatch")), 400, "invalid_latency")
	want(t, setup(t, func(_ *httpapi.Config, d *httpapi.Deps) {
		store := d.Links.(*postgres.Store)
		must(t, store.OnAir().Decide(t.Context(), "mara_k", livestream.Approved, d.Now()))
		d.Ingest = ingest.NewService(ingest.None{}, store, d.NewID, d.Now)
	}).send("POST", streamURL, `{}`, byLogin("mara_k")), 503, "ingest_unavailable")
	b.setDown(true)
	want(t, b.send("POST", streamURL, `{}`, byLogin("mara_k")), 503, "db_unavailable")
}

func TestMakeClip(t *testing.T) {
	t.Parallel()
	b := newStudio(t)
	b.live("701122")
	golden(t, "video/clip", b.send("POST", clipURL, `{"title":"The gauge turns"}`, b.bySession()))
	b.clock.Advance(1500 * time.Millisecond)
	w := b.send("POST", clipURL, "", b.bySession())
	golden(t, "video/clip_cooldown", w)
	has(t, w, "Retry-After: 119")
	for range 9 {
		b.clock.Advance(2 * time.Minute)
		b.live("701122")
		want(t, b.send("POST", "/api/live/MARA_K/clip", `{"marketId":"`+nativeID+`"}`, b.bySession()), 201, "")
	}
	b.clock.Advance(2 * time.Minute)
	b.live("701122")
	w = b.send("POST", clipURL, "", b.bySession())
	golden(t, "video/clip_daily_limit", w)
	if w.Header().Get("Retry-After") != "41999" { // from 12:20:01.5 to midnight
		t.Errorf("%v", w.Header())
	}
	b.clock.Advance(12 * time.Hour)
	b.live("")
	has(t, b.send("POST", clipURL, "{}", b.bySession()), `"marketId":null`, `"stance":null`)
	has(t, b.send("GET", "/api/m/701122/clips", ""), `"count":0`)
	b.ledger.Exec(`UPDATE hub.clips SET status = 'ready', url = 'https://video.example/clips/1/index.m3u8', duration_s = 30,
		ready_at = created_at + interval '1 s' WHERE market_id = '701122'`)
	golden(t, "video/clips", b.send("GET", "/api/m/701122/clips", ""))
}

func TestClipMistakes(t *testing.T) {
	t.Parallel()
	b := newStudio(t)
	b.live("701122")
	for body, code := range map[string]string{
		`[]`: "invalid_body", `{"title":"` + strings.Repeat("t", 121) + `"}`: "invalid_title", `{"title":1}`: "invalid_title", `{"title":"a\u0085b"}`: "invalid_title", `{"title":"\u202ea"}`: "invalid_title", `{"title":" "}`: "invalid_title", `{"marketId":"polymarket:1"}`: "invalid_market_id", `{"marketId":7}`: "invalid_market_id",
	} {
		want(t, b.send("POST", clipURL, body, b.bySession()), 400, code)
	}
	want(t, b.send("POST", clipURL, `{"marketId":"999"}`, b.bySession()), 404, "market_not_found")
	for _, handle := range []string{"no_such_user", "x", "%2e%2e", strings.Repeat("a", 33)} {
		want(t, b.send("POST", "/api/live/"+handle+"/clip", "", b.bySession()), 404, "not_found")
	}
	b.ledger.AddOperator("tidewatch")
	golden(t, "video/not_live", b.send("POST", "/api/live/tidewatch/clip", "", b.bySession()))
	b.setDown(true)
	want(t, b.send("POST", clipURL, "", b.bySession()), 503, "db_unavailable")
	equal(t, b.count("hub.clips"), 0)
}
