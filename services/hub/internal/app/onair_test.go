package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// streamer creates an operator with a key and binds a stream to a market. It returns the Authorization header with the key.
func (w *town) streamer(h *hub, handle string) (key string) {
	w.t.Helper()
	key = "Bearer " + w.ledger.AddKey(w.ledger.AddOperator(handle).GetId())
	h.json(200, "POST", "/api/m/701122/streams", fmt.Sprintf(`{"url":"https://video.example/%s.m3u8"}`, handle), "Authorization", key)
	return key
}

// live returns the handles in the live list of the hub.
func (h *hub) live() (handles []string) {
	h.w.t.Helper()
	status, _, body := h.do("GET", "/api/streamers/live", "")
	var list struct{ Live []struct{ Handle string } }
	if err := json.Unmarshal([]byte(body), &list); status != 200 || err != nil {
		h.w.t.Fatal(status, body)
	}
	for _, v := range list.Live {
		handles = append(handles, v.Handle)
	}
	return handles
}

// facts returns the types of the facts about an operator that the ledger has stored, in order.
func (w *town) facts(handle string) []string {
	return apitest.Get[[]string](w.ledger, `SELECT coalesce(array_agg(o.type ORDER BY o.id), '{}')
		FROM outbox o JOIN users u ON u.id = o.user_id WHERE u.handle = $1`, handle)
}

// fact returns the data of the newest fact of a type; empty if there is none.
func (w *town) fact(kind string) string {
	return apitest.Get[string](w.ledger, `SELECT coalesce((SELECT data::text FROM outbox WHERE type = $1 ORDER BY id DESC LIMIT 1), '')`, kind)
}

// copied returns the stored snapshot of a channel; empty if there is none.
func (w *town) copied(channel string) string {
	return apitest.Get[string](w.ledger, `SELECT coalesce((SELECT data::text FROM channel_copies WHERE channel = $1), '')`, channel)
}

// news returns the data of the newest event of a type that was published on a channel; empty if there is none.
func (w *town) news(channel, kind string) (data string) {
	for _, r := range apitest.Requests[*feedv1.PublishRequest](w.ledger) {
		for _, n := range r.GetNews() {
			if n.GetChannel() == channel && n.GetType() == kind {
				data = n.GetData()
			}
		}
	}
	return data
}

// watching returns the newest published number of viewers of an operator; -1 if there is none.
func (w *town) watching(handle string) int64 {
	viewers := int64(-1)
	for _, r := range apitest.Requests[*feedv1.PublishRequest](w.ledger) {
		for _, v := range r.GetWatching() {
			if v.GetHandle() == handle {
				viewers = v.GetViewers()
			}
		}
	}
	return viewers
}

// TestLiveOverTwoHubs checks that a session that one hub opens is live on the other hub. The ledger must receive the session, its
// viewers, its overlay signal and the snapshot of each channel.
func TestLiveOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	one, two := w.hub(), w.hub()
	key := w.streamer(one, "mara_k")
	one.json(200, "POST", "/api/streamer/heartbeat", "", "Authorization", key)
	if got := two.live(); !slices.Equal(got, []string{"mara_k"}) {
		t.Errorf("live on the other hub: %v", got)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Contains(w.facts("mara_k"), "operator.live") && strings.Contains(w.copied("live"), `"handle": "mara_k"`) &&
			strings.Contains(w.copied("operator:mara_k"), `"live": true`)
	})
	if data := w.fact("operator.live"); !strings.Contains(data, `"showId"`) || !strings.Contains(data, `"hlsUrl": "https://video.example/mara_k.m3u8"`) {
		t.Errorf("data of operator.live: %s", data)
	}
	two.json(200, "POST", "/api/streamer/signal", `{"marketId":"701122","name":"Ostrava"}`, "Authorization", key)
	if viewers := two.json(200, "POST", "/api/live/mara_k/view", `{"viewerId":"a"}`)["viewers"]; viewers != 1.0 {
		t.Errorf("viewers: %v", viewers)
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		return w.watching("mara_k") == 1 && strings.Contains(w.news("live", "viewers.updated"), `"viewers": 1`) &&
			strings.Contains(w.copied("live"), `"viewers": 1`)
	})
	for _, channel := range []string{"overlay:mara_k", "operator:mara_k"} {
		if data := w.news(channel, "overlay.updated"); !strings.Contains(data, `"name": "Ostrava"`) || !strings.Contains(data, `"slug": "701122"`) {
			t.Errorf("overlay.updated on %s: %s", channel, data)
		}
	}
	if data := w.copied("overlay:mara_k"); !strings.Contains(data, `"marketId": "701122"`) {
		t.Errorf("the snapshot of the overlay is %s", data)
	}
	if data := w.copied("operator:mara_k"); !strings.Contains(data, `"marketId": "701122"`) {
		t.Errorf("the snapshot of the operator is %s", data)
	}
	// A read and the snapshot of the channel have the same content.
	_, _, read := one.do("GET", "/api/streamer/signal?handle=mara_k", "")
	same(t, "the signal", read, w.copied("overlay:mara_k"))
	_, _, list := one.do("GET", "/api/streamers/live", "")
	same(t, "the live list", list, w.copied("live"))

	one.json(200, "DELETE", "/api/streamer/signal", "", "Authorization", key)
	two.json(200, "POST", "/api/streamer/heartbeat", `{"state":"offline"}`, "Authorization", key)
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(w.facts("mara_k"), []string{"stream.bound", "operator.live", "operator.offline"}) &&
			strings.Contains(w.copied("live"), `"live": []`) && w.copied("overlay:mara_k") == `{"marketId": null}` &&
			strings.Contains(w.copied("operator:mara_k"), `"signal": null`)
	})
	_, _, list = two.do("GET", "/api/streamers/live", "")
	same(t, "the live list with ended sessions", list, w.copied("live"))
	testkit.Eventually(t, 20*time.Second, func() bool { return w.watching("mara_k") == 0 })
}

// same checks that two JSON texts have the same value. what describes it in a failure message.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Errorf("%s: %s and %s", what, a, b)
		return
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	equal(t, string(left), string(right), what, left, right)
}

// TestFirstBeatsAtOnce checks that fifty concurrent first heartbeats at two hubs open one session. After concurrent heartbeats
// and ends, at most one session may be open, and no two sessions may overlap.
func TestFirstBeatsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	one, two := w.hub("DB_MAX_CONNS", "8"), w.hub("DB_MAX_CONNS", "8")
	w.ledger.AddOperator("mara_k")
	shows := make(chan string, 64)
	all := func(n int, do func(i int, h *hub)) {
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { do(i, []*hub{one, two}[i%2]) })
		}
		group.Wait()
	}
	all(50, func(_ int, h *hub) {
		for {
			session, err := h.onair.Beat(t.Context(), livestream.Beat{Handle: "mara_k"})
			if err == nil {
				shows <- session.ID
				return
			}
		}
	})
	close(shows)
	seen := map[string]bool{}
	for id := range shows {
		seen[id] = true
	}
	if n := apitest.Get[int](w.ledger, `SELECT count(*) FROM hub.live_sessions`); len(seen) != 1 || n != 1 {
		t.Errorf("%d sessions were answered and %d are stored", len(seen), n)
	}
	all(40, func(i int, h *hub) {
		if i%4 == 0 {
			_, _, _ = h.onair.Offline(context.WithoutCancel(t.Context()), "mara_k")
			return
		}
		_, _ = h.onair.Beat(context.WithoutCancel(t.Context()), livestream.Beat{Handle: "mara_k"})
	})
	if n := apitest.Get[int](w.ledger, `SELECT count(*) FROM hub.live_sessions WHERE ended_at IS NULL`); n > 1 {
		t.Errorf("%d sessions are open; want at most 1", n)
	}
	if n := apitest.Get[int](w.ledger, `SELECT count(*) FROM hub.live_sessions a JOIN hub.live_sessions b ON a.handle = b.handle AND a.id <> b.id
		AND a.started_at < b.ended_at AND b.started_at < a.ended_at`); n != 0 {
		t.Errorf("%d sessions overlap; want 0", n)
	}
}

// TestSessionsEndWhileHubsAreDown checks that a session whose hub has stopped ends 45 seconds after its last heartbeat, even if a
// hub detects the end later. The ledger must receive one end.
func TestSessionsEndWhileHubsAreDown(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	first := w.hub()
	key := w.streamer(first, "mara_k")
	first.json(200, "POST", "/api/streamer/heartbeat", "", "Authorization", key)
	first.stop()
	w.ledger.Exec(`UPDATE hub.live_sessions
		SET started_at = started_at - interval '1 hour', last_beat = last_beat - interval '10 minutes'`)
	one, two := w.hub(), w.hub()
	if got := one.live(); len(got) != 0 {
		t.Errorf("live: %v", got)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return slices.Contains(w.facts("mara_k"), "operator.offline") })
	if !apitest.Get[bool](w.ledger, `SELECT ended_at = last_beat + interval '45 seconds' FROM hub.live_sessions`) {
		t.Error("the session did not end 45 seconds after its last heartbeat")
	}
	if data := w.fact("operator.offline"); !strings.Contains(data, `"durationS": 3045`) {
		t.Errorf("data of operator.offline: %s", data)
	}
	// The next heartbeat opens a new session and does not change the ended one.
	two.json(200, "POST", "/api/streamer/heartbeat", "", "Authorization", key)
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(w.facts("mara_k"), []string{"stream.bound", "operator.live", "operator.offline", "operator.live"})
	})
}

// snapshot is the start of an MPEG-TS packet with a video frame at time 0. The packet needs 170 more bytes.
const snapshot = "G\x41\x00\x10\x00\x00\x01\xe0\x00\x00\x80\x80\x05\x21\x00\x01\x00\x01"

// push uploads a file of mara_k's stream to the origin of a hub and returns the status.
func (h *hub) push(key, name, body string) int {
	h.w.t.Helper()
	r, err := http.NewRequestWithContext(h.w.t.Context(), http.MethodPut, "http://"+h.OriginAddr()+"/ingest/"+key+"/mara_k/"+name, strings.NewReader(body))
	must(h.w.t, err)
	resp, err := h.w.client.Do(r)
	must(h.w.t, err)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestClipSurvivesAHub checks that the next hub finishes a clip that a stopped hub had begun, from the video that the stopped hub
// stored. A clip whose video was deleted must fail. Of two hubs with the same origin directory, one must wait until the other
// stops.
func TestClipSurvivesAHub(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["ORIGIN_LISTEN"], w.environ["ORIGIN_DIR"], w.environ["FFMPEG"] = "127.0.0.1:0", t.TempDir(), ""
	w.ledger.Exec(`INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ('mara_k', 'approved', now())`)
	first := w.hub()
	status, _, body := first.do("POST", "/api/streamer/stream", `{}`, "Authorization", "Bearer "+w.issuer.token(t, "did:privy:mara_k"))
	_, rest, _ := strings.Cut(body, `"streamKey":"`)
	key, _, _ := strings.Cut(rest, `"`)
	if status != 201 || !strings.Contains(body, "http://"+first.OriginAddr()+"/live/mara_k/index.m3u8") {
		t.Fatal(status, body)
	}
	playlist := "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
	for i := range 20 {
		if got := first.push(key, fmt.Sprintf("s%d.ts", i), snapshot+fmt.Sprintf("%-170d", i)); got != 204 {
			t.Fatal(got)
		}
		playlist += fmt.Sprintf("#EXTINF:2,\ns%d.ts\n", i)
	}
	if got := first.push(key, "index.m3u8", playlist); got != 204 {
		t.Fatal(got)
	}
	standby := w.hub() // with the same settings: its origin does not start
	equal(t, standby.OriginAddr(), "")
	standby.stop()
	moment := time.Now()
	waiting := w.hub()
	first.stop()
	testkit.Eventually(t, 20*time.Second, func() bool { return waiting.OriginAddr() != "" })
	if got := waiting.push(key, "after.ts", snapshot+strings.Repeat(" ", 170)); got != 204 {
		t.Errorf("upload to the second hub: %d, want 204", got)
	}
	waiting.stop()
	// Clips as killed hubs leave them: both leases have expired, and one clip is older than the stored video.
	w.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, status, created_by, created_at, tries, lease_until) VALUES
		('0199f0c0-0000-7000-8000-000000000001', 'mara_k', '701122', 'processing', 'ann', $1, 1, now() - interval '1 s'),
		('0199f0c0-0000-7000-8000-000000000002', 'mara_k', '701122', 'processing', 'ann', $1 - interval '1 hour', 1, now() - interval '1 s')`, moment)
	second := w.hub()
	clips := func() string {
		return apitest.Get[string](w.ledger, `SELECT string_agg(status || ' ' || coalesce(duration_s::text, '-') || ' ' ||
			coalesce(thumbnail_url, '-') || ' ' || coalesce(reason, '-'), ', ' ORDER BY id) FROM hub.clips`)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return !strings.Contains(clips(), "processing") })
	if got := clips(); got != "ready 30 - -, failed - - no video of the requested time is stored" {
		t.Error("clips after the restart: " + got)
	}
	if _, err := os.Stat(filepath.Join(w.environ["ORIGIN_DIR"], "clips", "0199f0c0-0000-7000-8000-000000000001", "index.m3u8")); err != nil {
		t.Error(err)
	}
	tapes := func() int64 {
		return apitest.Get[int64](w.ledger, `SELECT coalesce((SELECT tapes FROM market_tapes WHERE market_id = '701122'), -1)`)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return tapes() == 1 })
	w.ledger.Exec(`UPDATE hub.clips SET status = 'dropped', url = NULL WHERE status = 'ready'`)
	testkit.Eventually(t, 20*time.Second, func() bool { return tapes() == 0 })
	if log := first.logs.String() + second.logs.String(); strings.Contains(log, key) {
		t.Error("the key is in the log")
	}
	if got := second.push(key, "x.ts", snapshot+strings.Repeat(" ", 170)); got != 204 {
		t.Errorf("upload with the stream key after the restart: %d, want 204", got)
	}
}

// TestStreamsNameTheSetHosts checks that a stream URL is refused unless its host is listed in VIDEO_HOSTS.
func TestStreamsNameTheSetHosts(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub("VIDEO_HOSTS", "video-a.example,video-b.example:8443")
	key := "Bearer " + w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	for host, want := range map[string]int{"elsewhere.example": 400, "video-b.example:8443": 200} {
		status, _, body := h.do("POST", "/api/m/701122/streams", fmt.Sprintf(`{"url":"https://%s/x.m3u8"}`, host), "Authorization", key)
		equal(t, status, want, host, body)
	}
}

func TestVideoHosts(t *testing.T) {
	t.Parallel()
	if cfg, err := load(map[string]string{"VIDEO_HOSTS": "video-a.example,video-b.example:8443"}); err != nil || !slices.Equal(cfg.Videos, []string{"video-a.example", "video-b.example:8443"}) {
		t.Errorf("%v %v", cfg.Videos, err)
	}
	for _, bad := range []string{
		"https://video-a.example", "video-a.example/x", "u@video-a.example", "Video-A.example", "video-a.example:443", "video-a.example,,x",
		"video-a.example, video-b.example", "*.example", ":8443", "video-a.example:port", "video-a.example?x",
	} {
		if _, err := load(map[string]string{"VIDEO_HOSTS": bad}); err == nil || !strings.Contains(err.Error(), "VIDEO_HOSTS") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
