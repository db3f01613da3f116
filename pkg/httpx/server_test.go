package httpx_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
)

var quiet = slog.New(slog.DiscardHandler)

func serve(t *testing.T, h http.Handler, l httpx.Limits) *httpx.Server {
	t.Helper()
	s := httpx.NewServer("127.0.0.1:0", h, l, quiet)
	run(t, s)
	return s
}

// run starts s and stops it at the end of the test.
func run(t *testing.T, s *httpx.Server) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// dial sends the text first to addr and reads until the server closes the connection. It returns the response and the
// elapsed time.
func dial(t *testing.T, addr, first string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(began.Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, first); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(bufio.NewReader(c))
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return string(b), time.Since(began)
}

// TestClosedRequestHasNoAnswer checks that a client that closes its side of the connection during a request receives no
// response.
func TestClosedRequestHasNoAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, httpx.Route{Method: "POST", Path: "/wait", Handler: func(c echo.Context) error {
		<-c.Request().Context().Done()
		return c.Request().Context().Err()
	}})
	s := httpx.NewServer("127.0.0.1:0", b, httpx.Limits{ReadHeader: 5 * time.Second}, quiet)
	run(t, s)
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = io.WriteString(c, "POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	if err := errors.Join(err, c.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); len(got) > 0 {
		t.Errorf("response %q, want none", got)
	}
}

func TestServerDisconnectsSlowClients(t *testing.T) {
	t.Parallel()
	b := setup(t, httpx.Route{Method: "POST", Path: "/body", Handler: func(c echo.Context) error {
		_, err := httpx.Decode(c, httpx.BodyLimit)
		return err
	}})
	const short, limit = 100 * time.Millisecond, 5 * time.Second
	only := func(l httpx.Limits) string { // all other limits are too large to matter
		for _, d := range []*time.Duration{&l.ReadHeader, &l.Read, &l.Write, &l.Idle} {
			if *d == 0 {
				*d = time.Minute
			}
		}
		return serve(t, b, l).Addr()
	}
	if _, took := dial(t, only(httpx.Limits{ReadHeader: short}), "GET /healthz HTT"); took > limit {
		t.Errorf("a connection with an incomplete header was open for %v", took)
	}
	got, took := dial(t, only(httpx.Limits{Read: short}), "POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{")
	if took > limit || !strings.Contains(got, "400 Bad Request") || !strings.Contains(got, "invalid_body") {
		t.Errorf("incomplete body: %v, response %s", took, got)
	}
	got, took = dial(t, only(httpx.Limits{Idle: short}), "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if took > limit || !strings.Contains(got, "200 OK") {
		t.Errorf("idle connection: %v, response %s", took, got)
	}
	addr := only(httpx.Limits{Read: 500 * time.Millisecond})
	got, took = dial(t, addr, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
	if took > limit || !strings.Contains(got, "431 ") {
		t.Errorf("large header: %v, response %.100s", took, got)
	}
	got, took = dial(t, addr, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n"+strings.Repeat(" ", 0x10000)+"  ")
	if took > limit || !strings.Contains(got, "413 ") || !strings.Contains(got, "payload_too_large") {
		t.Errorf("large chunked body: %v, response %.300s", took, got)
	}
}

// TestServerDisconnectsClientsThatDoNotRead checks that the server closes the connection of a client that does not read
// a response larger than all buffers.
func TestServerDisconnectsClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				failed <- err
				return
			}
		}
	}), httpx.Limits{Write: 100 * time.Millisecond})
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-failed:
	case <-time.After(10 * time.Second):
		t.Error("the handler is still blocked in Write after 10 s")
	}
}

func TestStreamHasNoDeadline(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var deadline atomic.Bool
	b := setup(t, httpx.Route{Method: "GET", Path: "/stream", Timeout: -1, Handler: func(c echo.Context) error {
		_, has := c.Request().Context().Deadline()
		deadline.Store(has)
		<-release
		return httpx.OK(c, "late")
	}})
	s := serve(t, b, httpx.Limits{Read: 50 * time.Millisecond, Write: 50 * time.Millisecond})
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	res, err := http.Get("http://" + s.Addr() + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != `"late"` || deadline.Load() {
		t.Errorf("body %q, error %v, deadline %v; want the response without a deadline", body, err, deadline.Load())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.observed) != 0 {
		t.Errorf("an event stream was timed: %v", b.observed)
	}
}

type connKey struct{}

type counting struct {
	net.Listener
	accepted atomic.Int32
}

func (l *counting) Accept() (net.Conn, error) {
	l.accepted.Add(1)
	return l.Listener.Accept()
}

func TestJoin(t *testing.T) {
	t.Parallel()
	var ln counting
	var seen atomic.Value
	s := httpx.NewServer("127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen.Store(r.Context().Value(connKey{}))
	}), httpx.Limits{}, quiet)
	s.Join(func(l net.Listener) net.Listener { ln.Listener = l; return &ln },
		func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.RemoteAddr().Network())
		})
	run(t, s)
	res, err := http.Get("http://" + s.Addr() + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if seen.Load() != "tcp" || ln.accepted.Load() == 0 {
		t.Errorf("context value %v, %d accepted connections", seen.Load(), ln.accepted.Load())
	}
}

func TestStopLetsRequestsEnd(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}), make(chan struct{})
	b := setup(t, httpx.Route{Method: "GET", Path: "/slow", Handler: func(c echo.Context) error {
		close(running)
		<-release
		return httpx.OK(c, "done")
	}})
	s := httpx.NewServer("127.0.0.1:0", b, httpx.Limits{}, quiet)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	answer := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + s.Addr() + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		answer <- string(body)
	}()
	<-running
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	if err := <-served; err != nil {
		t.Error(err)
	}
	select {
	case err := <-stopped:
		t.Fatalf("Stop returned during a request: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if got := <-answer; got != `"done"` {
		t.Errorf("the running request was answered with %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestReadyz(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	var down atomic.Bool
	var asked atomic.Int32
	h := httpx.NewHealth("n", func() time.Time { return now },
		httpx.Check{Name: "redis", Test: func(context.Context) error { return nil }},
		httpx.Check{Name: "postgres", Test: func(context.Context) error {
			asked.Add(1)
			if down.Load() {
				return errors.New("unavailable")
			}
			return nil
		}})
	inside := httpx.Internal(http.NotFoundHandler(), h, nil)
	edge := httpx.New(httpx.Config{Log: quiet, Now: func() time.Time { return now }, Health: h, Probes: httpx.Open})
	get := func(path string) string {
		var both [2]string
		for i, handler := range []http.Handler{inside, edge} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			both[i] = fmt.Sprint(w.Code, " ", w.Body)
			if i == 1 && w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: wrong CORS headers %v", path, w.Header())
			}
		}
		if both[0] != both[1] {
			t.Errorf("%s: internal listener %s, public listener %s", path, both[0], both[1])
		}
		return both[0]
	}
	if got := get("/readyz"); got != `503 {"ok":false,"nonce":"n","failed":["lifecycle"]}` {
		t.Errorf("/readyz before Up: %s", got)
	}
	h.Up()
	if got := get("/readyz"); got != `200 {"ok":true,"nonce":"n"}` || asked.Load() != 1 {
		t.Errorf("/readyz after Up: %s, %d checks; want 1 check", got, asked.Load())
	}
	down.Store(true)
	now = now.Add(time.Second)
	if got := get("/readyz"); got != `503 {"ok":false,"nonce":"n","failed":["postgres"]}` {
		t.Errorf("/readyz with a failed check: %s", got)
	}
	if got := get("/healthz"); got != `200 {"ok":true,"nonce":"n"}` {
		t.Errorf("/healthz with a failed check: %s", got)
	}
	h.Down()
	if got := get("/readyz"); got != `503 {"ok":false,"nonce":"n","failed":["lifecycle"]}` {
		t.Errorf("/readyz after Down: %s", got)
	}
}

func TestInternal(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "m 1\n") })
	inside := httpx.Internal(metrics, httpx.NewHealth("n", time.Now), []httpx.Route{{Method: "GET", Path: "/a/:id", Who: []string{"key"}}})
	for path, want := range map[string]string{
		"/metrics": "200 m 1\n", "/routes": `200 {"routes":[{"method":"GET","path":"/a/:id","who":["key"]}]}`, "/healthz": `200 {"ok":true,"nonce":"n"}`,
		"/debug/pprof/": "404 404 page not found\n", "/": "404 404 page not found\n",
	} {
		w := httptest.NewRecorder()
		inside.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := fmt.Sprint(w.Code, " ", w.Body); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestDrain checks that a draining server still answers requests and closes each connection after its response.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }), httpx.Limits{})
	get := func() (closes bool) {
		t.Helper()
		res, err := http.Get("http://" + s.Addr() + "/")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "here" {
			t.Errorf("body %q, error %v", body, err)
		}
		return res.Close
	}
	if get() {
		t.Error("the connection was closed before Drain")
	}
	s.Drain()
	for range 2 {
		if !get() {
			t.Error("the connection was not closed after Drain")
		}
	}
}
