package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/conf"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// picture is how a packet of MPEG-TS begins that has a picture at time 0; 170 bytes follow.
const picture = "G\x41\x00\x10\x00\x00\x01\xe0\x00\x00\x80\x80\x05\x21\x00\x01\x00\x01"

// push sends a file to the origin of a hub.
func (h *hub) push(key, name, body string) int {
	h.w.t.Helper()
	r, err := http.NewRequestWithContext(h.w.t.Context(), http.MethodPut, "http://"+h.OriginAddr()+"/ingest/"+key+"/mara_k/"+name, strings.NewReader(body))
	if err != nil {
		h.w.t.Fatal(err)
	}
	resp, err := h.w.client.Do(r)
	if err != nil {
		h.w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestClipSurvivesAHub: a clip that a hub left in the middle is finished by the next
// one, from the video that the first one kept; one whose video is gone has failed.
func TestClipSurvivesAHub(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["ORIGIN_LISTEN"], w.environ["ORIGIN_DIR"], w.environ["FFMPEG"] = "127.0.0.1:0", t.TempDir(), ""
	owner := testkit.Pool(t, w.database.Admin)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ('mara_k', 'approved', now())`)
	first := w.hub()
	first.ready()
	status, _, body := first.do("POST", "/api/streamer/stream", `{}`, "Authorization", "Bearer "+w.issuer.token(t, "did:privy:mara_k"))
	_, rest, _ := strings.Cut(body, `"streamKey":"`)
	key, _, _ := strings.Cut(rest, `"`)
	if status != 201 || !strings.Contains(body, "http://"+first.OriginAddr()+"/live/mara_k/index.m3u8") {
		t.Fatal(status, body)
	}
	playlist := "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
	for i := range 20 {
		if got := first.push(key, fmt.Sprintf("s%d.ts", i), picture+fmt.Sprintf("%-170d", i)); got != 204 {
			t.Fatal(got)
		}
		playlist += fmt.Sprintf("#EXTINF:2,\ns%d.ts\n", i)
	}
	if got := first.push(key, "index.m3u8", playlist); got != 204 {
		t.Fatal(got)
	}
	beside := w.hub() // with the same settings: it stands by
	beside.ready()
	if beside.OriginAddr() != "" {
		t.Error("two hubs are the origin")
	}
	beside.stop()
	moment := time.Now()
	waiting := w.hub()
	first.stop()
	testkit.Eventually(t, 20*time.Second, func() bool { return waiting.OriginAddr() != "" })
	if got := waiting.push(key, "after.ts", picture+strings.Repeat(" ", 170)); got != 204 {
		t.Errorf("the hub that stood by: %d", got)
	}
	waiting.stop()
	// As hubs leave them that are killed: one with its lease over, one of long ago.
	exec(`INSERT INTO hub.clips (id, handle, market_id, status, created_by, created_at, tries, lease_until) VALUES
		('0199f0c0-0000-7000-8000-000000000001', 'mara_k', '701122', 'processing', 'ann', $1, 1, now() - interval '1 s'),
		('0199f0c0-0000-7000-8000-000000000002', 'mara_k', '701122', 'processing', 'ann', $1 - interval '1 hour', 1, now() - interval '1 s')`, moment)
	second := w.hub()
	second.ready()
	var got string
	testkit.Eventually(t, 20*time.Second, func() bool {
		err := owner.QueryRow(t.Context(), `SELECT string_agg(status || ' ' || coalesce(duration_s::text, '-') || ' ' || coalesce(thumbnail_url, '-') || ' ' || coalesce(reason, '-'), ', ' ORDER BY id) FROM hub.clips`).Scan(&got)
		return err == nil && !strings.Contains(got, "processing")
	})
	if got != "ready 30 - -, failed - - there is no video of that moment" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(w.environ["ORIGIN_DIR"], "clips", "0199f0c0-0000-7000-8000-000000000001", "index.m3u8")); err != nil {
		t.Error(err)
	}
	if log := first.logs.String() + second.logs.String(); strings.Contains(log, key) {
		t.Error("the key is in the log")
	}
	if got := second.push(key, "x.ts", picture+strings.Repeat(" ", 170)); got != 204 {
		t.Errorf("the key is forgotten: %d", got)
	}
}

// TestVideoSettings: what does not fit together stops the start.
func TestVideoSettings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 3)
	for name, c := range map[string]struct {
		set map[string]string
		bad string
	}{
		"nothing":        {map[string]string{}, ""},
		"unknown":        {map[string]string{"INGEST_PROVIDER": "camera"}, "INGEST_PROVIDER"},
		"no directory":   {map[string]string{"ORIGIN_LISTEN": "127.0.0.1:0"}, "ORIGIN_DIR"},
		"no port":        {map[string]string{"ORIGIN_LISTEN": "here", "ORIGIN_DIR": "/x"}, "ORIGIN_LISTEN"},
		"origin":         {map[string]string{"ORIGIN_LISTEN": "127.0.0.1:0", "ORIGIN_DIR": "/x", "HLS_URL": "https://video.example"}, ""},
		"a path":         {map[string]string{"HLS_URL": "https://video.example/x"}, "HLS_URL"},
		"small window":   {map[string]string{"ORIGIN_WINDOW": "89s"}, "ORIGIN_WINDOW"},
		"small room":     {map[string]string{"CLIP_DISK_BYTES": "1000"}, "CLIP_DISK_BYTES"},
		"small streams":  {map[string]string{"ORIGIN_STREAM_BYTES": "1000"}, "ORIGIN_STREAM_BYTES"},
		"rtmp":           {map[string]string{"INGEST_PROVIDER": "rtmp"}, "RTMP_URL"},
		"rtmp somewhere": {map[string]string{"INGEST_PROVIDER": "rtmp", "RTMP_URL": "rtmp://ingest.example/live"}, ""},
		"livepeer":       {map[string]string{"INGEST_PROVIDER": "livepeer"}, "LIVEPEER_API_KEY"},
		"livepeer's key": {map[string]string{"INGEST_PROVIDER": "livepeer", "LIVEPEER_API_KEY": long}, ""},
		"mux":            {map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_SECRET": long}, "MUX_TOKEN_ID"},
		"mux's secret":   {map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x"}, "MUX_TOKEN_SECRET"},
		"mux somewhere":  {map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x", "MUX_TOKEN_SECRET": long, "MUX_URL": "ftp://x"}, "MUX_URL"},
		"mux as it is":   {map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x", "MUX_TOKEN_SECRET": long}, ""},
		"none":           {map[string]string{"INGEST_PROVIDER": "none"}, ""},
	} {
		environ := good()
		for k, v := range c.set {
			environ[k] = v
		}
		_, err := conf.LoadFrom[Config](environ)
		if (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
