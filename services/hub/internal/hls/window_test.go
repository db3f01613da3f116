package hls_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/hls"
)

// TestRestarts checks that the media sequence continues after a restart of an encoder that sends the same names, and after a
// restart of the origin with the same directory.
func TestRestarts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("seg", 0, 9)
	b.reopen()
	b.clock.Advance(2 * time.Second)
	b.want(b.put("seg10.ts", packet("seg10")), 204, "")
	b.want(b.put("index.m3u8", media("seg", 6, 10)), 204, "") // it lists segments of the previous process
	if got := b.get("/live/mara_k/index.m3u8"); !strings.Contains(got, "MEDIA-SEQUENCE:7\n") || strings.Contains(got, "DISCONTINUITY") || !strings.Contains(got, "seg6\n") || !strings.HasSuffix(got, "seg10") {
		t.Errorf("after the restart of the origin:\n%s", got)
	}
	b.clock.Advance(10 * time.Second)
	for i := range 2 { // the encoder is restarted, with other pictures under the old names
		b.clock.Advance(2 * time.Second)
		b.want(b.put(fmt.Sprintf("seg%d.ts", i), packet(fmt.Sprintf("again%d", i))), 204, "")
		b.want(b.put("index.m3u8", media("seg", 0, i)), 204, "")
	}
	got := b.get("/live/mara_k/index.m3u8")
	if !strings.Contains(got, "MEDIA-SEQUENCE:12\n") || !strings.Contains(got, "#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\nagain0") || !strings.HasSuffix(got, "again1") || strings.Contains(got, "seg") {
		t.Errorf("after the restart of the encoder:\n%s", got)
	}
	// A push that is repeated because its answer was lost is stored once.
	b.want(b.put("seg1.ts", packet("again1")), 204, "")
	b.want(b.put("index.m3u8", media("seg", 0, 1)), 204, "")
	if again := b.get("/live/mara_k/index.m3u8"); again != got {
		t.Errorf("after a repeated push:\n%s", again)
	}
}

// TestWindow checks that old segments are deleted, that segments of a recent playlist remain, and that a stream is deleted after
// it has ended.
func TestWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("seg", 1, 100)                                                    // 200 seconds
	if n := len(files(t, b.opt.Dir+"/live/mara_k")); n < 45+2 || n > 62+2 { // at least 90 seconds of it
		t.Errorf("%d files", n)
	}
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 200, "")
	b.clock.Advance(46 * time.Second)
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 404, "not_found")
	if b.o.Live("mara_k") {
		t.Error("the stream is live after its end")
	}
	b.clock.Advance(3 * time.Minute)
	b.o.Sweep()
	if n := len(files(t, b.opt.Dir+"/live")); n != 0 {
		t.Errorf("%d streams remain", n)
	}
	b.run("seg", 1, 2)
	if !b.o.Live("mara_k") {
		t.Error("the restarted stream is not live")
	}
}

// TestStreamStorageLimit checks that an upload above the storage limit of a stream is refused, and that earlier segments remain available.
func TestStreamStorageLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *hls.Options) { o.StreamBytes = 1000 })
	b.run("seg", 1, 5)
	b.want(b.put("seg6.ts", packet("6")), 413, "payload_too_large")
	if got := b.get("/live/mara_k/index.m3u8"); !strings.HasSuffix(got, "seg5") {
		t.Errorf("%s", got)
	}
	if n := len(files(t, b.opt.Dir+"/tmp")); n != 0 {
		t.Errorf("%d temporary files remain", n)
	}
	b.clock.Advance(3 * time.Minute)
	b.want(b.put("seg6.ts", packet("6")), 204, "")
	for i := range 300 {
		b.put("x.ts", packet(fmt.Sprint(i)))
	}
	b.want(b.put("x.ts", packet("x")), 429, "rate_limited")
}

func TestRenditions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	master := "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,CODECS=\"avc1.4d401e,mp4a.40.2\",VIDEO=\"https://evil.example\"\nlow.m3u8\n"
	b.want(b.put("low1.ts", packet("low1")), 204, "")
	b.want(b.put("low.m3u8", media("low", 1, 1)), 204, "")
	b.want(b.put("index.m3u8", []byte(master)), 204, "")
	const want = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,CODECS=\"avc1.4d401e,mp4a.40.2\"\nlow.m3u8\n"
	if got := b.do("GET", "/live/mara_k/index.m3u8", nil).Body.String(); got != want {
		t.Errorf("%s", got)
	}
	film, err := b.o.Cut(t.Context(), clipID(1), "mara_k", b.clock.Now(), 30*time.Second)
	if err != nil || film.Length != 2*time.Second {
		t.Errorf("%+v %v", film, err)
	}
}

// TestHooks checks that the hook of each supported RTMP server accepts a stream only with its key.
func TestHooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := func(kind, body string) int {
		return b.do("POST", "/hooks/publish", []byte(body), "Content-Type", kind).Code
	}
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for body, want := range map[string]int{
		"call=publish&app=live&name=mara_k&key=" + key: 204, "call=play&name=mara_k&key=" + key: 401, "call=publish&name=tidewatch&key=" + key: 401,
		"call=publish&name=mara_k": 401, "call=publish&name=../x&key=" + key: 401, "%zz": 401, "": 401,
	} {
		if got := ask(form, body); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	for body, want := range map[string]int{
		`{"action":"publish","path":"live/mara_k","protocol":"rtmp","query":"key=` + key + `"}`:     204,
		`{"action":"publish","path":"live/mara_k","protocol":"rtmp","query":"key=` + key + `&a=b"}`: 401,
		`{"action":"publish","path":"mara_k","query":"key=` + key + `"}`:                            401,
		`{"action":"read","path":"live/mara_k","query":"key=` + key + `"}`:                          401, `{`: 401,
		`{"action":"read","ip":"127.0.0.1","path":"live/mara_k"}`: 204, `{"action":"read","ip":"192.0.2.1","path":"live/mara_k"}`: 401, `{"action":"api","ip":"127.0.0.1"}`: 401,
	} {
		if got := ask(object, body); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	large := b.do("POST", "/hooks/publish", bytes.Repeat([]byte("x"), 4<<10+1), "Content-Type", form)
	if large.Code != 400 || !strings.Contains(large.Body.String(), "must have at most 4 KiB") {
		t.Errorf("body of more than 4 KiB: %d %s", large.Code, large.Body)
	}
}

// TestOneProcess checks that only one process can own a directory, and that another process can own it after the first has ended.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("seg", 1, 3)
	next := hls.New(b.opt)
	t.Cleanup(func() { _ = next.Close() })
	for range 2 {
		if held, err := next.Take(); held || err != nil || next.Ready() {
			t.Fatal("two processes own the directory", err)
		}
	}
	noError(t, b.o.Close())
	if held, err := next.Take(); !held || err != nil || !next.Ready() || !next.Live("mara_k") {
		t.Error(held, err)
	}
	b.o = next
	if got := b.get("/live/mara_k/index.m3u8"); !strings.HasSuffix(got, "seg3") {
		t.Errorf("%s", got)
	}
}
