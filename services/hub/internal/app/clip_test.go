package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// clip requests a clip of the stream of mara_k.
func (h *hub) clip() {
	h.w.t.Helper()
	made, err := h.clips.Make(h.w.t.Context(), clip.Request{By: operator.Operator{Handle: "ann"}, Handle: "mara_k"})
	if err != nil || made.Status != "processing" {
		h.w.t.Fatalf("%+v %v", made, err)
	}
}

// TestClipsOfAVideoHost checks that a hub without an origin publishes a clip that the video host creates.
func TestClipsOfAVideoHost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	var asked atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := map[string]string{
			"POST /api/stream": `{"id":"stream-1","streamKey":"key-1","playbackId":"live1","isActive":false}`,
			"POST /api/clip":   `{"task":{"id":"task-1"},"asset":{"id":"asset-1","playbackId":"clip1","status":{"phase":"waiting"}}}`,
		}[r.Method+" "+r.URL.Path]
		if r.URL.Path == "/api/asset/asset-1" {
			said = `{"id":"asset-1","playbackId":"clip1","status":{"phase":"processing","progress":0.5}}`
			if asked.Add(1) > 1 {
				said = `{"id":"asset-1","playbackId":"clip1","videoSpec":{"duration":30.1},"status":{"phase":"ready"}}`
			}
		}
		if said == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, said)
	}))
	t.Cleanup(host.Close)
	h := w.hub("INGEST_PROVIDER", "livepeer", "LIVEPEER_URL", host.URL, "LIVEPEER_API_KEY", providerKey)
	w.ledger.Exec(`INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ('mara_k', 'approved', now())`)
	if status, _, body := h.do("POST", "/api/streamer/stream", `{}`, "Authorization", "Bearer "+w.issuer.token(t, "did:privy:mara_k")); status != 201 {
		t.Fatal(status, body)
	}
	if _, err := h.onair.Beat(t.Context(), livestream.Beat{Handle: "mara_k"}); err != nil {
		t.Fatal(err)
	}
	h.clip()
	testkit.Eventually(t, 40*time.Second, func() bool {
		return apitest.Get[string](w.ledger, `SELECT status || ' ' || coalesce(url, '-') || ' ' || coalesce(market_id, '-') FROM hub.clips`) ==
			"ready https://livepeercdn.studio/hls/clip1/index.m3u8 -"
	})
	testkit.Eventually(t, 20*time.Second, func() bool { return strings.Contains(w.fact("clip.ready"), `"marketId": null`) })
}

// TestClipsOfOtherServers checks that the origin cuts clips of playlists at other servers, and that it connects to none at a private
// address.
func TestClipsOfOtherServers(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	var hits atomic.Int64
	private := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(private.Close)
	h := w.hub("ORIGIN_LISTEN", "127.0.0.1:0", "ORIGIN_DIR", t.TempDir(), "FFMPEG", "")
	key := "Bearer " + w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	h.json(200, "POST", "/api/m/701122/streams", fmt.Sprintf(`{"url":"%s/x.m3u8"}`, private.URL), "Authorization", key)
	h.json(200, "POST", "/api/streamer/heartbeat", "", "Authorization", key)
	h.clip()
	testkit.Eventually(t, 20*time.Second, func() bool { return strings.Contains(h.logs.String(), "address is not public") })
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests to a private address, want 0", n)
	}
}
