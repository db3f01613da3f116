package hls_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
)

// elsewhere is a fake video server of an operator. It has files by path.
type elsewhere struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]http.HandlerFunc
	asked []string
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.asked = append(e.asked, r.URL.Path)
	f := e.files[r.URL.Path]
	e.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	f(w, r)
}

// text returns a file with this content. It supports byte ranges.
func text(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
}

// remote returns an origin that may read private addresses, and a server of another operator with a playlist of 20 segments of two
// seconds.
func remote(t *testing.T) (*bench, *elsewhere) {
	t.Helper()
	e := &elsewhere{files: map[string]http.HandlerFunc{}}
	e.Server = httptest.NewTLSServer(e)
	t.Cleanup(e.Close)
	for i := range 20 {
		e.files[fmt.Sprintf("/v/s%d.ts", i)] = text(string(packet(fmt.Sprintf("s%d", i))))
	}
	e.files["/v/index.m3u8"] = text(string(media("s", 0, 19)))
	b := setup(t, func(o *hls.Options) {
		o.FFmpeg, o.Client = "", safedial.Client(safedial.Options{Private: true, Redirects: 3})
		o.Client.Transport.(*http.Transport).TLSClientConfig = e.Client().Transport.(*http.Transport).TLSClientConfig
	})
	return b, e
}

func (b *bench) fetch(n int, url string, end time.Time) (clip.Video, error) {
	b.t.Helper()
	return b.o.Fetch(b.t.Context(), clipID(n), url, end, clip.Length)
}

// TestFetch checks that a clip of a playlist at another server contains the newest 30 seconds before its request, and that it is
// served by the origin after the other server has deleted the video.
func TestFetch(t *testing.T) {
	t.Parallel()
	b, e := remote(t)
	e.files["/master.m3u8"] = text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000000\nhuge.m3u8\n" +
		"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"a.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=6000000,AUDIO=\"a\"\nsilent.m3u8\n" +
		"#EXT-X-STREAM-INF:BANDWIDTH=500000\nsmall.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=4000000\n../moved/index.m3u8\n")
	e.files["/moved/index.m3u8"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v/index.m3u8", http.StatusFound) }
	moment := b.clock.Now()
	for n, url := range []string{e.URL + "/v/index.m3u8", e.URL + "/master.m3u8"} {
		film, err := b.fetch(n, url, moment)
		if err != nil || film.Length != 30*time.Second || film.URL != "https://video.example/clips/"+clipID(n)+"/index.m3u8" {
			t.Fatalf("%s: %+v %v", url, film, err)
		}
		if got := b.get("/clips/" + clipID(n) + "/index.m3u8"); strings.Count(got, "EXTINF") != 15 || !strings.Contains(got, "VOD\n#EXTINF:2.000000,\ns5\n") ||
			!strings.HasSuffix(got, "s19\n#EXT-X-ENDLIST") {
			t.Errorf("%s", got)
		}
	}
	// An attempt five seconds later leaves out the two segments that are newer than the request.
	b.clock.Advance(5 * time.Second)
	if _, err := b.fetch(7, e.URL+"/v/index.m3u8", moment); err != nil {
		t.Fatal(err)
	}
	if got := b.get("/clips/" + clipID(7) + "/index.m3u8"); !strings.HasSuffix(got, "s17\n#EXT-X-ENDLIST") {
		t.Errorf("%s", got)
	}
	e.Close()
	if film, err := b.fetch(0, e.URL+"/v/index.m3u8", moment); err != nil || film.Length != 30*time.Second {
		t.Errorf("a finished clip: %+v %v", film, err)
	}
	if n := len(files(t, b.opt.Dir+"/tmp")); n != 0 {
		t.Errorf("%d temporary directories remain", n)
	}
}

// TestFetchRanges checks segments and initialization segments that are byte ranges of one file, with discontinuities.
func TestFetchRanges(t *testing.T) {
	t.Parallel()
	b, e := remote(t)
	box := func(kind, content string) string { return "\x00\x00\x00\x20" + kind + fmt.Sprintf("%-24s", content) }
	e.files["/all.mp4"] = text(box("ftyp", "one") + box("ftyp", "two") + box("moof", "a") + box("moof", "b") + box("moof", "c"))
	e.files["/index.m3u8"] = text("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"32@0\"\n#EXTINF:2,\n#EXT-X-BYTERANGE:32@64\nall.mp4\n" +
		"#EXTINF:2,\n#EXT-X-BYTERANGE:32\nall.mp4\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"32@32\"\n#EXTINF:2,\n#EXT-X-BYTERANGE:32\nall.mp4\n")
	film, err := b.fetch(1, e.URL+"/index.m3u8", b.clock.Now())
	if err != nil || film.Length != 6*time.Second {
		t.Fatalf("%+v %v", film, err)
	}
	got := ""
	for line := range strings.SplitSeq(b.do("GET", "/clips/"+clipID(1)+"/index.m3u8", nil).Body.String(), "\n") {
		name, isMap := strings.CutPrefix(line, `#EXT-X-MAP:URI="`)
		switch {
		case isMap:
			got += "map " + strings.TrimSpace(b.do("GET", "/clips/"+clipID(1)+"/"+strings.TrimSuffix(name, `"`), nil).Body.String()[8:]) + " "
		case line == "#EXT-X-DISCONTINUITY":
			got += "cut "
		case line != "" && !strings.HasPrefix(line, "#"):
			got += strings.TrimSpace(b.do("GET", "/clips/"+clipID(1)+"/"+line, nil).Body.String()[8:]) + " "
		}
	}
	if got != "map one a b cut map two c " {
		t.Errorf("the clip has %q", got)
	}
}

// TestFetchWhileThePlaylistChanges checks that a clip begins later if the other server deletes its first segments.
func TestFetchWhileThePlaylistChanges(t *testing.T) {
	t.Parallel()
	b, e := remote(t)
	e.files["/v/s19.ts"] = func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		for i := range 16 {
			delete(e.files, fmt.Sprintf("/v/s%d.ts", i))
		}
		e.mu.Unlock()
		text(string(packet("s19")))(w, r)
	}
	film, err := b.fetch(1, e.URL+"/v/index.m3u8", b.clock.Now())
	if err != nil || film.Length != 8*time.Second {
		t.Fatalf("%+v %v", film, err)
	}
	delete(e.files, "/v/s19.ts")
	if _, err := b.fetch(2, e.URL+"/v/index.m3u8", b.clock.Now()); err == nil || errors.Is(err, clip.ErrNoVideo) {
		t.Errorf("without the newest segment: %v, want a temporary error", err)
	}
}

// endless sends bytes until the client disconnects. It counts them.
func endless(sent *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		chunk := packet(strings.Repeat("G", 100))
		chunk = append(chunk, make([]byte, 1<<20)...)
		for {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

// TestHostilePlaylists checks that no answer of another server becomes a clip unless it is video within the limits, and that such an
// answer ends the clip.
func TestHostilePlaylists(t *testing.T) {
	t.Parallel()
	b, e := remote(t)
	var sent atomic.Int64
	const head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
	one := func(name string) string { return head + "#EXTINF:2,\n" + name + "\n" }
	e.files["/endless.ts"], e.files["/endless.m3u8"] = endless(&sent), endless(&sent)
	e.files["/page.ts"] = text("<!doctype html><script>alert(1)</script>")
	e.files["/short.ts"] = text("G")
	e.files["/box.m4s"] = text("\x00\x00\x00\x20moof" + strings.Repeat(" ", 24))
	e.files["/whole.ts"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packet("whole")) } // ignores ranges
	big := append(packet("big"), make([]byte, 30<<20)...)
	for i := range 3 {
		e.files[fmt.Sprintf("/big%d.ts", i)] = text(string(big))
	}
	for name, c := range map[string]struct {
		playlist string
		final    bool // another attempt would fail too
	}{
		"empty":                      {"", true},
		"no playlist":                {"<html></html>", true},
		"no segments":                {head, true},
		"only a header":              {"#EXTM3U", true},
		"key":                        {head + "#EXT-X-KEY:METHOD=AES-128,URI=\"https://127.0.0.1/key\"\n#EXTINF:2,\nv/s1.ts\n", true},
		"key before no segment":      {head + "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\nv/s1.ts\n", true},
		"newest is encrypted":        {head + "#EXTINF:2,\nv/s1.ts\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:2,\nv/s2.ts\n", true},
		"gap":                        {head + "#EXTINF:2,\nv/s1.ts\n#EXT-X-GAP\n#EXTINF:2,\nv/s2.ts\n", true},
		"dangling tags":              {head + "#EXT-X-DISCONTINUITY\n#EXT-X-BYTERANGE:5@5\n#EXT-X-PROGRAM-DATE-TIME:x\nfoo\n", true},
		"http":                       {one("http://" + strings.TrimPrefix(e.URL, "https://") + "/v/s1.ts"), true},
		"file":                       {one("file:///etc/passwd"), true},
		"data":                       {one("data:video/mp2t,GGGG"), true},
		"user":                       {one("https://a:b@" + strings.TrimPrefix(e.URL, "https://") + "/v/s1.ts"), true},
		"invalid name":               {one("https://[::1"), true},
		"page":                       {one("page.ts"), true},
		"short":                      {one("short.ts"), true},
		"fragment without a map":     {one("box.m4s"), true},
		"no time":                    {head + "#EXTINF:0,\nv/s1.ts\n", true},
		"not a number":               {head + "#EXTINF:NaN,\nv/s1.ts\n", true},
		"long":                       {head + "#EXTINF:3600,\nv/s1.ts\n", true},
		"range of an unwilling host": {head + "#EXTINF:2,\n#EXT-X-BYTERANGE:20@4\nwhole.ts\n", false},
		"range after the end":        {head + "#EXTINF:2,\n#EXT-X-BYTERANGE:20@4000\nv/s1.ts\n", false},
		"huge range":                 {head + "#EXTINF:2,\n#EXT-X-BYTERANGE:99999999999@0\nv/s1.ts\n", true},
		"endless segment":            {one("endless.ts"), true},
		"more than 64 MiB":           {head + "#EXTINF:2,\nbig0.ts\n#EXTINF:2,\nbig1.ts\n#EXTINF:2,\nbig2.ts\n", true},
		"endless playlist":           {"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nendless.m3u8\n", true},
		"master of a master":         {"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8\n", true},
		"master without renditions":  {"#EXTM3U\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"v/index.m3u8\"\n", true},
		"large":                      {head + strings.Repeat("#EXTINF:2,\nv/s1.ts\n", 20000), true},
		"no connection":              {one("https://127.0.0.1:1/a.ts"), false},
	} {
		e.files["/index.m3u8"] = text(c.playlist)
		_, err := b.fetch(1, e.URL+"/index.m3u8", b.clock.Now())
		if err == nil || errors.Is(err, clip.ErrNoVideo) != c.final {
			t.Errorf("%s: error %v; want a final one: %v", name, err, c.final)
		}
	}
	if n := sent.Load(); n > 80<<20 {
		t.Errorf("%d bytes of endless answers were sent, want at most about 32 MiB", n)
	}
	for _, dir := range []string{"/tmp", "/clips"} {
		if n := len(files(t, b.opt.Dir+dir)); n != 0 {
			t.Errorf("%d entries in %s, want 0", n, dir)
		}
	}
}

// TestFetchOnlyPublicAddresses checks that neither a playlist nor its segments are read from a private address.
func TestFetchOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	_, e := remote(t)
	b := setup(t, func(o *hls.Options) { o.FFmpeg, o.Client = "", safedial.Client(safedial.Options{Redirects: 3}) })
	for _, url := range []string{e.URL + "/v/index.m3u8", "https://169.254.169.254/latest/meta-data.m3u8", "https://[::1]/a.m3u8"} {
		if _, err := b.fetch(1, url, b.clock.Now()); !errors.Is(err, safedial.ErrAddress) {
			t.Errorf("%s: %v, want ErrAddress", url, err)
		}
	}
	if len(e.asked) != 0 {
		t.Errorf("requests to a private address: %v", e.asked)
	}
}

// TestFetchEndsWithItsRequest checks that a server that sends nothing does not delay the end of a hub.
func TestFetchEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	b, e := remote(t)
	begun := make(chan struct{})
	e.files["/index.m3u8"] = func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := b.o.Fetch(ctx, clipID(1), e.URL+"/index.m3u8", b.clock.Now(), clip.Length); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
