package hls_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/hls"
)

// openPush starts an upload over a real connection and sends the beginning of its body.
func (b *bench) openPush(addr, name string, length int, body []byte) net.Conn {
	b.t.Helper()
	c, err := (&net.Dialer{}).DialContext(b.t.Context(), "tcp", addr)
	noError(b.t, err)
	b.t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "PUT /ingest/%s/mara_k/%s HTTP/1.1\r\nHost: video.example\r\nContent-Length: %d\r\n\r\n%s", key, name, length, body)
	if err = errors.Join(err, c.SetReadDeadline(time.Now().Add(30*time.Second))); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// status returns the HTTP status of the answer on a connection; 0 if there is no answer.
func (b *bench) status(c net.Conn) int {
	b.t.Helper()
	w, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		b.t.Error(err)
		return 0
	}
	_ = w.Body.Close()
	return w.StatusCode
}

// TestStalledPush checks that an upload that sends no further bytes is aborted, and that its data is deleted.
func TestStalledPush(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *hls.Options) { o.Idle = 100 * time.Millisecond })
	srv := httptest.NewServer(b.o)
	t.Cleanup(srv.Close)
	for _, name := range []string{"a.ts", "index.m3u8"} {
		if got := b.status(b.openPush(srv.Listener.Addr().String(), name, 376, packet("half"))); got != 400 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if n := len(files(t, b.opt.Dir+"/tmp")); n != 0 {
		t.Errorf("%d temporary files remain", n)
	}
	if got := b.status(b.openPush(srv.Listener.Addr().String(), "a.ts", 188, packet("whole"))); got != 204 {
		t.Errorf("a complete push: %d", got)
	}
}

// TestOpenPushes checks the limit of concurrent uploads: four per stream, and two more for each rendition.
func TestOpenPushes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := func(name string) (end func() int) {
		in, out := io.Pipe()
		done := make(chan int)
		go func() {
			w := httptest.NewRecorder()
			b.o.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "PUT", "/ingest/"+key+"/mara_k/"+name, in))
			done <- w.Code
		}()
		if _, err := out.Write(packet(name)); err != nil { // the origin is reading the body
			t.Fatal(err)
		}
		return func() int { _ = out.Close(); return <-done }
	}
	var ends []func() int
	for i := range 4 {
		ends = append(ends, open(fmt.Sprintf("a%d.ts", i)))
	}
	w := b.put("a4.ts", packet("a4"))
	b.want(w, 429, "rate_limited")
	if w.Header().Get("Retry-After") != "1" {
		t.Errorf("%v", w.Header())
	}
	if got := ends[0](); got != 204 {
		t.Errorf("%d", got)
	}
	b.want(b.put("a4.ts", packet("a4")), 204, "")
	b.want(b.put("index.m3u8", []byte("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n")), 204, "")
	for i := range 3 {
		ends = append(ends, open(fmt.Sprintf("b%d.ts", i)))
	}
	b.want(b.put("b4.ts", packet("b4")), 429, "rate_limited")
	for _, end := range ends[1:] {
		if got := end(); got != 204 {
			t.Errorf("%d", got)
		}
	}
}

// unread is a request body that fails the test if it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestLengthBeforeBody checks that an upload whose Content-Length is too large is refused before its body is read.
func TestLengthBeforeBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, length := range map[string]int64{"a.ts": 32<<20 + 1, "a.m4s": 1 << 40, "index.m3u8": 256<<10 + 1} {
		r := httptest.NewRequestWithContext(t.Context(), "PUT", "/ingest/"+key+"/mara_k/"+name, unread{t})
		r.ContentLength = length
		w := httptest.NewRecorder()
		b.o.ServeHTTP(w, r)
		b.want(w, 413, "payload_too_large")
	}
}
