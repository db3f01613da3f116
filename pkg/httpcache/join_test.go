package httpcache_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

// joinServer serves bodies by path over connections of httpcache.Join. It returns its address.
func joinServer(t *testing.T, bodies map[string][]byte) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages := make(map[string]*httpcache.Page, len(bodies))
	for path, body := range bodies {
		pages[path] = httpcache.Make(body)
	}
	s := &http.Server{
		ConnContext:       httpcache.JoinContext,
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pages[r.URL.Path].WriteTo(w, r)
		}),
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(httpcache.Join(ln)) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return ln.Addr().String()
}

// TestJoinSendsEveryByte checks that bodies of sizes around every boundary of the server's buffers arrive complete. All
// requests use one connection, so bytes that one response leaves in a buffer would appear in the next response.
func TestJoinSendsEveryByte(t *testing.T) {
	t.Parallel()
	bodies := make(map[string][]byte)
	for _, n := range []int{0, 1, 1800, 2047, 2048, 2049, 3500, 3700, 3800, 3900, 4000, 4095, 4096, 4097, 4300, 8191, 8192, 8193, 20000, 70000, 300000} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + (i*7+n)%26)
		}
		bodies["/"+string(rune('A'+len(bodies)))] = b
	}
	addr := joinServer(t, bodies)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
			defer client.CloseIdleConnections()
			for path, want := range bodies {
				for _, method := range []string{"GET", "HEAD", "GET"} {
					r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, nil)
					if err != nil {
						t.Error(err)
						return
					}
					res, err := client.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(res.Body)
					_ = res.Body.Close()
					if err != nil || method == "GET" && !bytes.Equal(got, want) || res.ContentLength != int64(len(want)) {
						t.Errorf("%s of a body of %d bytes: received %d bytes, error %v", method, len(want), len(got), err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestJoinSendsHeaderAndBodyTogether checks that header and body arrive together: the first read must return more bytes
// than the server's own buffer can contain.
func TestJoinSendsHeaderAndBodyTogether(t *testing.T) {
	t.Parallel()
	addr := joinServer(t, map[string][]byte{"/": feed(500)})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	n, err := bufio.NewReaderSize(c, len(buf)).Read(buf)
	if err != nil || n <= 4096 {
		t.Errorf("first read: %d bytes, error %v; want more than 4096 bytes", n, err)
	}
}

// TestJoinWithDisconnectingClients checks that a client that disconnects during a response does not affect other
// requests.
func TestJoinWithDisconnectingClients(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 8<<20)
	addr := joinServer(t, map[string][]byte{"/": big, "/small": []byte("{}")})
	for range 5 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 10)); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	}
	res, err := http.Get("http://" + addr + "/small")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// TestJoinLeavesOtherConnectionsAlone checks that Join does not wrap connections other than TCP.
func TestJoinLeavesOtherConnectionsAlone(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if ctx := t.Context(); httpcache.JoinContext(ctx, a) != ctx {
		t.Error("JoinContext treated a pipe as a joined connection")
	}
	got, err := httpcache.Join(oneConn{a}).Accept()
	if err != nil || got != a {
		t.Errorf("accepted %v, error %v; want the pipe itself", got, err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err == nil {
			_ = c.Close()
		}
	}()
	c, err := httpcache.Join(ln).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	under, ok := c.(interface{ NetConn() net.Conn })
	if !ok {
		t.Fatal("the connection has no method NetConn")
	}
	if _, ok := under.NetConn().(*net.TCPConn); !ok || httpcache.JoinContext(context.Background(), c) == context.Background() {
		t.Error("the accepted connection is not a joined TCP connection")
	}
}

type oneConn struct{ c net.Conn }

func (o oneConn) Accept() (net.Conn, error) { return o.c, nil }
func (o oneConn) Close() error              { return nil }
func (o oneConn) Addr() net.Addr            { return o.c.LocalAddr() }
