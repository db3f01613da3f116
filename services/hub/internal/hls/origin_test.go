package hls_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
)

const key = "sk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// noError ends the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gate is a fake of Options.Admit. It accepts the key of mara_k until the test replaces the key.
type gate struct {
	mu  sync.Mutex
	key string
	n   int
	at  int // number of the call after which the key is replaced; 0: never

	away int // calls that fail with db_unavailable
}

func (g *gate) Admit(ctx context.Context, h protocol.Handle, k string) error {
	if ctx.Err() != nil { // like a database query
		return ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away > 0 {
		g.away--
		return apperr.New(apperr.Unavailable, "db_unavailable", "unavailable")
	}
	if g.n++; g.n == g.at {
		g.key = "other"
	}
	if h != "mara_k" || k != g.key {
		return apperr.New(apperr.Unauthenticated, "unauthenticated", "the stream key is missing, unknown or replaced; create one in the studio")
	}
	return nil
}

type pulse struct {
	mu sync.Mutex
	of []string
}

func (p *pulse) Beat(ctx context.Context, handle protocol.Handle) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = append(p.of, string(handle))
	return nil
}

type bench struct {
	t     *testing.T
	o     *hls.Origin
	opt   hls.Options
	clock *testkit.Clock
	gate  *gate
	pulse *pulse
	log   *bytes.Buffer
}

func setup(t *testing.T, change ...func(*hls.Options)) *bench {
	t.Helper()
	b := &bench{
		t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)), gate: &gate{key: key}, pulse: &pulse{}, log: &bytes.Buffer{},
	}
	b.opt = hls.Options{
		Dir: t.TempDir(), Base: func() string { return "https://video.example" }, Admit: b.gate.Admit, Beat: b.pulse.Beat, Keep: 2 * time.Minute,
		StreamBytes: 64 << 20, ClipBytes: 1 << 30, FFmpeg: "ffmpeg", Now: b.clock.Now,
		Log: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&b.opt)
	}
	b.open()
	t.Cleanup(func() { _ = b.o.Close() })
	return b
}

func (b *bench) open() {
	b.t.Helper()
	b.o = hls.New(b.opt)
	if held, err := b.o.Take(); err != nil || !held {
		b.t.Fatal(held, err)
	}
}

// reopen replaces the origin with the origin of a new process that uses the same directory.
func (b *bench) reopen() {
	b.t.Helper()
	noError(b.t, b.o.Close())
	b.open()
}

func (b *bench) do(method, path string, body []byte, head ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, bytes.NewReader(body))
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	w := httptest.NewRecorder()
	b.o.ServeHTTP(w, r)
	return w
}

func (b *bench) want(w *httptest.ResponseRecorder, status int, code string) {
	b.t.Helper()
	if w.Code != status || code != "" && !strings.Contains(w.Body.String(), `"error":"`+code+`"`) {
		b.t.Errorf("%d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

// put uploads a file to the stream of mara_k with the key in the path.
func (b *bench) put(name string, body []byte) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.do("PUT", "/ingest/"+key+"/mara_k/"+name, body)
}

// run uploads a range of segments two seconds apart. After each segment, it uploads a playlist of the newest five.
func (b *bench) run(prefix string, from, to int) {
	b.t.Helper()
	for i := from; i <= to; i++ {
		b.clock.Advance(2 * time.Second)
		b.want(b.put(fmt.Sprintf("%s%d.ts", prefix, i), packet(fmt.Sprintf("%s%d", prefix, i))), 204, "")
		b.want(b.put("index.m3u8", media(prefix, max(from, i-4), i)), 204, "")
	}
}

func media(prefix string, from, to int) []byte {
	s := "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:" + fmt.Sprint(from) + "\n"
	for i := from; i <= to; i++ {
		s += fmt.Sprintf("#EXTINF:2.000000,\n%s%d.ts\n", prefix, i)
	}
	return []byte(s)
}

// get returns a playlist in which each segment name is replaced by the text of the segment.
func (b *bench) get(path string) string {
	b.t.Helper()
	w := b.do("GET", path, nil)
	if w.Code != 200 {
		b.t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	out := ""
	for line := range strings.SplitSeq(w.Body.String(), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			seg := b.do("GET", path[:strings.LastIndexByte(path, '/')+1]+line, nil)
			if seg.Code != 200 || seg.Header().Get("Content-Type") != "video/mp2t" {
				b.t.Errorf("%s: %d %v", line, seg.Code, seg.Header())
			}
			line = strings.TrimSpace(seg.Body.String()[textAt:])
		}
		out += line + "\n"
	}
	return strings.TrimRight(out, "\n")
}

func TestPushAndWatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 404, "not_found")
	b.run("seg", 1, 7)
	const want = `#EXTM3U
#EXT-X-VERSION:3
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:3
#EXTINF:2.000000,
seg3
#EXTINF:2.000000,
seg4
#EXTINF:2.000000,
seg5
#EXTINF:2.000000,
seg6
#EXTINF:2.000000,
seg7`
	if got := b.get("/live/mara_k/index.m3u8"); got != want {
		t.Errorf("%s", got)
	}
	w := b.do("GET", "/live/mara_k/index.m3u8", nil)
	for name, value := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=1", "Content-Type": "application/vnd.apple.mpegurl", "X-Content-Type-Options": "nosniff",
	} {
		if w.Header().Get(name) != value {
			t.Errorf("%s: %q", name, w.Header().Get(name))
		}
	}
	if again := b.do("GET", "/live/mara_k/index.m3u8", nil, "If-None-Match", w.Header().Get("Etag")); again.Code != 304 {
		t.Errorf("the same playlist: %d", again.Code)
	}
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	part := b.do("GET", "/live/mara_k/"+lines[len(lines)-1], nil, "Range", "bytes=18-21")
	if part.Code != 206 || part.Body.String() != "seg7" || part.Header().Get("Cache-Control") != "public, max-age=86400, immutable" {
		t.Errorf("%d %q %v", part.Code, part.Body, part.Header())
	}
	pre := b.do("OPTIONS", "/live/mara_k/index.m3u8", nil, "Origin", "https://a.example", "Access-Control-Request-Method", "GET")
	if pre.Code != 204 || pre.Header().Get("Access-Control-Allow-Origin") != "*" || strings.Contains(pre.Header().Get("Access-Control-Allow-Methods"), "PUT") {
		t.Errorf("%d %v", pre.Code, pre.Header())
	}
	if len(b.pulse.of) != 3 || b.pulse.of[0] != "mara_k" {
		t.Errorf("%v", b.pulse.of)
	}
	if strings.Contains(b.log.String(), key) {
		t.Error("the key is in the log")
	}
}

// TestWithheldMediaIsNotServed checks that the stream of a suspended operator and a hidden clip return 404 within 10 s. They must
// be served again after the decision is reversed.
func TestWithheldMediaIsNotServed(t *testing.T) {
	t.Parallel()
	list := map[string]bool{}
	b := setup(t, func(o *hls.Options) {
		o.Withheld = func(context.Context) (map[string]bool, error) { return list, nil }
	})
	b.run("seg", 1, 3)
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 200, "")
	list["mara_k"] = true
	b.clock.Advance(10 * time.Second)
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 404, "not_found")
	delete(list, "mara_k")
	b.clock.Advance(10 * time.Second)
	b.want(b.do("GET", "/live/mara_k/index.m3u8", nil), 200, "")
}

// TestKeys checks the three ways to send a stream key, and the answer to a wrong key.
func TestKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := packet("x")
	b.want(b.do("PUT", "/live/mara_k/a.ts", body, "Authorization", "Bearer "+key), 204, "")
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/live/mara_k/b.ts", bytes.NewReader(body))
	r.SetBasicAuth("anybody", key)
	w := httptest.NewRecorder()
	b.o.ServeHTTP(w, r)
	b.want(w, 204, "")
	b.want(b.do("POST", "/ingest/"+key+"/mara_k/c.ts", body), 204, "")
	b.want(b.do("POST", "/ingest/key="+key+"/mara_k/d.ts", body), 204, "")
	b.want(b.do("DELETE", "/ingest/"+key+"/mara_k/c.ts", nil), 204, "")
	for _, path := range []string{"/live/mara_k/a.ts", "/ingest/sk_b/mara_k/a.ts", "/ingest/" + key + "/tidewatch/a.ts", "/ingest/" + key + "/MARA_K/a.ts", "/ingest/" + key + "/../a.ts"} {
		w := b.do("PUT", path, body)
		b.want(w, 401, "unauthenticated")
		if strings.Contains(w.Body.String(), "sk_") || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %v", w.Body, w.Header())
		}
	}
	b.want(b.do("DELETE", "/live/mara_k/a.ts", nil), 401, "unauthenticated")
	for _, method := range []string{"OPTIONS", "PUT"} {
		if w := b.do(method, "/ingest/"+key+"/mara_k/e.ts", body); w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
	for range 80 {
		w = b.do("PUT", "/ingest/sk_b/mara_k/a.ts", body)
	}
	b.want(w, 429, "rate_limited")
	b.want(b.put("d.ts", body), 204, "") // wrong keys do not affect uploads with the right one
}

// TestKeyReplacedMidway checks that an upload is refused and not stored if its key is replaced before its end.
func TestKeyReplacedMidway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.gate.at = 2
	b.want(b.put("a.ts", packet("a")), 401, "unauthenticated")
	b.gate.key = key
	b.want(b.put("index.m3u8", media("a", 0, 0)), 404, "not_found")
}

// TestDatabaseUnavailable checks that an upload waits during a short outage of the database, and that a longer outage is answered with
// 503.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.gate.away = 2
	b.want(b.put("a1.ts", packet("a1")), 204, "")
	b.gate.away = 2
	b.want(b.put("index.m3u8", media("a", 1, 1)), 204, "")
	b.gate.away = 1 << 20
	ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	r := httptest.NewRequestWithContext(ctx, "POST", "/hooks/publish", strings.NewReader("call=publish&name=mara_k&key="+key))
	w := httptest.NewRecorder()
	b.o.ServeHTTP(w, r)
	b.want(w, 503, "db_unavailable")
}

func TestInvalidUploads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(b.put("a.ts", []byte("<script>alert(1)</script>")), 415, "unsupported_media_type")
	b.want(b.put("a.m4s", packet("a")), 415, "unsupported_media_type")
	b.want(b.put("a.ts", nil), 415, "unsupported_media_type")
	b.want(b.put("a.m4s", []byte("\x00\x00\x00\x18stypmsdh0000")), 204, "")
	for _, name := range []string{"a.html", "a", ".ts", "..ts", "-a.ts", "a..ts", "a.ts.exe", "state.json", "a%2f.ts", "\u017e.ts", strings.Repeat("a", 200) + ".ts"} {
		w := b.put(name, packet("a"))
		if w.Code != 400 && w.Code != 404 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := b.put("a.ts", append(packet("a"), make([]byte, 32<<20)...)); w.Code != 413 {
		t.Errorf("a huge segment: %d %s", w.Code, w.Body)
	}
	b.want(b.put("index.m3u8", make([]byte, 257<<10)), 413, "payload_too_large")
	b.want(b.put("ok.ts", packet("ok")), 204, "")
	for name, text := range map[string]string{
		"foreign": "#EXTINF:2,\nhttps://evil.example/x.ts", "rooted": "#EXTINF:2,\n/x.ts", "above": "#EXTINF:2,\n../tidewatch/x.ts", "scheme": "#EXTINF:2,\n//evil.example/x.ts",
		"query": "#EXTINF:2,\nok.ts?x", "key": "#EXT-X-KEY:METHOD=AES-128,URI=\"https://evil.example/k\"\n#EXTINF:2,\nok.ts", "map": "#EXT-X-MAP:URI=\"https://evil.example/i.mp4\"\n#EXTINF:2,\nok.ts",
		"range": "#EXT-X-BYTERANGE:10@0\n#EXTINF:2,\nok.ts", "define": "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXTINF:2,\nok.ts", "media": "#EXT-X-MEDIA:TYPE=AUDIO,URI=\"https://evil.example\"\n#EXTINF:2,\nok.ts",
		"nothing": "", "no length": "ok.ts", "long": "#EXTINF:61,\nok.ts", "nan": "#EXTINF:NaN,\nok.ts", "negative": "#EXTINF:-1,\nok.ts", "half": "#EXTINF:2,\n", "zero byte": "#EXTINF:2,\nok.ts\n\x00",
		"both": "#EXTINF:2,\nok.ts\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8", "variant": "#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://evil.example/v.m3u8", "bandwidth": "#EXT-X-STREAM-INF:X=1\nv.m3u8",
	} {
		if w := b.put("index.m3u8", []byte("#EXTM3U\n"+text)); w.Code != 400 || !strings.Contains(w.Body.String(), "invalid_request") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	b.want(b.put("index.m3u8", []byte("#EXTINF:2,\nok.ts")), 400, "invalid_request")
	b.want(b.put("index.m3u8", []byte("#EXTM3U\r\n#EXT-X-FOO:URI=\"https://evil.example\"\r\n# a remark https://evil.example\r\n#EXTINF:2,https://evil.example\r\nok.ts\r\n")), 204, "")
	if got := b.do("GET", "/live/mara_k/index.m3u8", nil).Body.String(); strings.Contains(got, "evil") || strings.Contains(got, "ok.ts") || strings.Contains(got, "\r") {
		t.Errorf("%s", got)
	}
	for _, path := range []string{
		"/", "/live", "/live/mara_k", "/live/mara_k/", "/live/mara_k/state.json", "/live/mara_k/ok.ts", "/live/../lock", "/live/mara_k/../../lock", "/live/%2e%2e/lock", "/live/mara_k/%2e%2e%2flock", "/tmp/x.ts",
		"/clips/x/index.m3u8", "/clips/../lock", "/live/mara_k/index.m3u8/x", "/lock",
	} {
		if w := b.do("GET", path, nil); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	b.want(b.do("PATCH", "/live/mara_k/index.m3u8", nil), 405, "method_not_allowed")
	b.want(b.do("GET", "/ingest/"+key+"/mara_k/index.m3u8", nil), 405, "method_not_allowed")
}

// TestPlaylistOvertakesItsSegment checks that a playlist waits for a segment that is being uploaded.
func TestPlaylistOvertakesItsSegment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in, out := io.Pipe()
	done := make(chan int)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), "PUT", "/ingest/"+key+"/mara_k/a1.ts", in)
		w := httptest.NewRecorder()
		b.o.ServeHTTP(w, r)
		done <- w.Code
	}()
	if _, err := out.Write(packet("a1")); err != nil { // the origin has read it, so it expects the segment
		t.Fatal(err)
	}
	listed := make(chan int)
	go func() { listed <- b.put("index.m3u8", media("a", 1, 1)).Code }()
	noError(t, out.Close())
	if got := <-done; got != 204 {
		t.Errorf("segment: %d", got)
	}
	if got := <-listed; got != 204 {
		t.Errorf("playlist: %d", got)
	}
}
