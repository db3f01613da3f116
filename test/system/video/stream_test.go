package video

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	segmentLength = 2 * time.Second
	segments      = 40 // number of segments in the recording
	listed        = 6  // number of segments in a playlist at one time
)

// stream is a live HLS stream over https on a video host that does not belong to the system. It starts when it receives the
// first request.
type stream struct {
	URL      string       // URL of the playlist
	missing  atomic.Bool  // if set, every request is answered 404
	requests atomic.Int64 // number of requests for the playlist
	start    atomic.Int64 // Unix time in nanoseconds; 0: no request yet
	end      atomic.Int64 // number of the first segment in the final playlist, plus 1; 0: the stream has not ended
}

// first returns the number of the first segment in the current playlist.
func (s *stream) first() int {
	s.start.CompareAndSwap(0, time.Now().UnixNano())
	if end := s.end.Load(); end > 0 {
		return int(end) - 1
	}
	return min(int(time.Since(time.Unix(0, s.start.Load()))/segmentLength), segments-listed)
}

// Stop ends the stream. The playlist no longer changes and contains EXT-X-ENDLIST, which states that no segment follows.
func (s *stream) Stop() { s.end.Store(int64(s.first()) + 1) }

// Restart starts the stream again with the first segment of the recording.
func (s *stream) Restart() {
	s.start.Store(time.Now().UnixNano())
	s.end.Store(0)
}

// recording contains the directory of the segments that all streams of this test binary serve.
var recording struct {
	once sync.Once
	dir  string
	err  error
}

// record returns the directory of the recording. The first call encodes the segments with ffmpeg.
func record(t *testing.T) string {
	t.Helper()
	recording.once.Do(func() {
		recording.dir = stack.TempDir(t)
		out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10",
			"-f", "lavfi", "-i", "sine=frequency=440", "-t", fmt.Sprint(int(segmentLength.Seconds())*segments),
			"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "20", "-keyint_min", "20", "-sc_threshold", "0",
			"-c:a", "aac", "-b:a", "32k", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0",
			"-hls_segment_filename", filepath.Join(recording.dir, "%d.ts"), filepath.Join(recording.dir, "all.m3u8")).CombinedOutput()
		if err != nil {
			recording.err = fmt.Errorf("run ffmpeg, which tools/setup.sh video installs: %w\n%s", err, out)
		}
	})
	if recording.err != nil {
		t.Fatal(recording.err)
	}
	return recording.dir
}

// newStream starts a video host that serves a stream until the test ends.
func newStream(t *testing.T) *stream {
	t.Helper()
	files := http.FileServer(http.Dir(record(t)))
	s := &stream{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case s.missing.Load():
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, "/index.m3u8"):
			s.servePlaylist(w)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/index.m3u8"
	return s
}

func (s *stream) servePlaylist(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
	s.requests.Add(1)
	first, ended := s.first(), s.end.Load() > 0
	_, _ = fmt.Fprintf(w, "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:%d\n", first)
	for i := first; i < first+listed; i++ {
		_, _ = fmt.Fprintf(w, "#EXTINF:2.0,\n%d.ts\n", i)
	}
	if ended {
		_, _ = fmt.Fprintln(w, "#EXT-X-ENDLIST")
	}
}

// requirePlaying waits until the playback position of the page's video advances.
func requirePlaying(t *testing.T, b *browser.Tab) {
	t.Helper()
	first := 0.0
	stack.Eventually(t, browser.Within, "the video to play", func() bool {
		const position = `(v => v.readyState >= 2 && !v.paused ? v.currentTime : 0)(document.querySelector("video"))`
		now, err := browser.TryEval[float64](b, position)
		if err != nil {
			return false
		}
		if first == 0 {
			first = now
		}
		return first > 0 && now > first
	})
}
