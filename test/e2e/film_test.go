package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// film is somebody's own video host: a stream that runs from when it is asked for first,
// over https, at an address of its own.
type film struct {
	URL   string // of the playlist
	gone  atomic.Bool
	asked atomic.Int64 // for the playlist
	began atomic.Int64 // when it was asked for first, in nanoseconds; 0: not yet
	ended atomic.Int64 // the first part of the playlist that says that nothing follows, and 1; 0: it runs
}

// first is the first part that the playlist has now.
func (f *film) first() int {
	f.began.CompareAndSwap(0, time.Now().UnixNano())
	if end := f.ended.Load(); end > 0 {
		return int(end) - 1
	}
	return min(int(time.Since(time.Unix(0, f.began.Load()))/filmStep), filmLong-filmKept)
}

// stop ends the stream as an encoder does that is told to.
func (f *film) stop() { f.ended.Store(int64(f.first()) + 1) }

// again is the encoder, started anew: its stream begins with its first part.
func (f *film) again() {
	f.began.Store(time.Now().UnixNano())
	f.ended.Store(0)
}

const (
	filmStep = 2 * time.Second
	filmLong = 40 // that there are in all
	filmKept = 6  // that a playlist has at a time
)

// filmPin is the key of the video host's certificate, which no authority has signed.
func filmPin() string {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	sum := sha256.Sum256(s.Certificate().RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// newFilm makes a test picture and serves it as a live stream.
func newFilm(t testing.TB) *film {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10", "-f", "lavfi", "-i", "sine=frequency=440",
		"-t", fmt.Sprint(int(filmStep.Seconds())*filmLong), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "20", "-keyint_min", "20", "-sc_threshold", "0",
		"-c:a", "aac", "-b:a", "32k", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_segment_filename", filepath.Join(dir, "%d.ts"), filepath.Join(dir, "all.m3u8"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg, without which there is no film (type: sudo apt-get install -y ffmpeg): %v\n%s", err, out)
	}
	f := &film{}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case f.gone.Load():
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, "/index.m3u8"):
			w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
			f.asked.Add(1)
			first, over := f.first(), f.ended.Load() > 0
			_, _ = fmt.Fprintf(w, "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:%d\n", first)
			for i := first; i < first+filmKept; i++ {
				_, _ = fmt.Fprintf(w, "#EXTINF:2.0,\n%d.ts\n", i)
			}
			if over {
				_, _ = fmt.Fprintln(w, "#EXT-X-ENDLIST")
			}
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f.URL = server.URL + "/index.m3u8"
	return f
}
