package feed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	perAddress  = 20 // connections that one IP address may open
	dialTimeout = 20 * time.Second
)

// host is an additional api process that reads the same feed. Only one test uses it, so its memory, open files and metrics show
// the effects of that test.
type host struct {
	*stack.Side
	addr, metrics string
	network       [2]byte // first two bytes of the clients' addresses, within 127.0.0.0/8
}

func newHost(t *testing.T, s *stack.Stack, changed map[string]string) *host {
	t.Helper()
	metrics := stack.FreeAddr(t)
	settings := map[string]string{"METRICS_ADDR": metrics}
	maps.Copy(settings, changed)
	h := &host{Side: s.Side(t, "api", settings), metrics: metrics}
	h.addr, h.network = strings.TrimPrefix(h.URL, "http://"), [2]byte{byte(16 + rand.N(200)), byte(200 + rand.N(40))}
	// The process follows the feed only some time after it reports that it is ready.
	stack.Eventually(t, 30*time.Second, "a first connection to "+h.URL, func() bool {
		c, err := h.open(t.Context(), h.address(0), "", 0)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	return h
}

// address returns the client address with index i. There are about 3,000 addresses.
func (h *host) address(i int) net.IP {
	return net.IPv4(127, h.network[0], h.network[1]+byte(i/250), byte(1+i%250))
}

// connect opens a TCP connection from the given source address. If buffer is greater than 0, it is the size of the kernel's
// receive buffer in bytes.
func (h *host) connect(ctx context.Context, from net.IP, buffer int) (*net.TCPConn, error) {
	dial := net.Dialer{Timeout: dialTimeout, LocalAddr: &net.TCPAddr{IP: from}}
	if buffer > 0 {
		// The size must be set before the connection is opened, because the peer must not receive a larger window.
		dial.Control = func(_, _ string, c syscall.RawConn) error {
			var err error
			outer := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, buffer) })
			return errors.Join(outer, err)
		}
	}
	c, err := dial.DialContext(ctx, "tcp", h.addr)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// conn is an open connection to the feed.
type conn struct {
	*net.TCPConn
	in *bufio.Reader
}

// open opens a websocket from the given source address. key is an operator key or empty, and buffer is the same as for connect.
// If the server refuses the handshake, the error is a ws.StatusError.
func (h *host) open(ctx context.Context, from net.IP, key string, buffer int) (*conn, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	d := ws.Dialer{
		Timeout: dialTimeout, Header: ws.HandshakeHeaderHTTP(header), ReadBufferSize: 512, WriteBufferSize: 512,
		NetDial: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.connect(ctx, from, buffer) },
	}
	c, early, _, err := d.Dial(ctx, "ws://"+h.addr+"/ws")
	if err != nil {
		return nil, err
	}
	if early == nil {
		early = bufio.NewReaderSize(c, 512)
	}
	return &conn{c.(*net.TCPConn), early}, nil
}

// stream opens a stream of server-sent events.
func (h *host) stream(ctx context.Context, from net.IP, query string) (*conn, error) {
	c, err := h.connect(ctx, from, 0)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(c, 1024)
	_, err = fmt.Fprintf(c, "GET /api/v1/feed/stream?%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", query, h.addr)
	if err == nil {
		var res *http.Response
		if res, err = http.ReadResponse(in, nil); err == nil && res.StatusCode != http.StatusOK {
			err = ws.StatusError(res.StatusCode)
		}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return &conn{c, in}, nil
}

// send sends a text message.
func (c *conn) send(text string) error { return c.sendFrame(ws.NewTextFrame([]byte(text))) }

func (c *conn) sendFrame(f ws.Frame) error { return ws.WriteFrame(c, ws.MaskFrame(f)) }

// closedError is the error for a close frame of the server.
type closedError struct{ code ws.StatusCode }

func (e closedError) Error() string { return fmt.Sprintf("closed with code %d", e.code) }

// next returns the next text message and answers pings. If the server closes the connection with a close frame, the error is a
// closedError.
func (c *conn) next() ([]byte, error) {
	for {
		f, err := ws.ReadFrame(c.in)
		if err != nil {
			return nil, err
		}
		switch f.Header.OpCode {
		case ws.OpText:
			return f.Payload, nil
		case ws.OpPing:
			err = c.sendFrame(ws.NewPongFrame(f.Payload))
		case ws.OpClose:
			code, _ := ws.ParseCloseFrameData(f.Payload)
			err = closedError{code}
		}
		if err != nil {
			return nil, err
		}
	}
}

// await reads messages until one contains the text part.
func (c *conn) await(part string) error {
	if err := c.SetReadDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	for {
		text, err := c.next()
		if err != nil {
			return fmt.Errorf("the connection ended before a message contained %s: %w", part, err)
		}
		if bytes.Contains(text, []byte(part)) {
			return nil
		}
	}
}

// reset closes the connection with a TCP reset.
func (c *conn) reset() error { return errors.Join(c.SetLinger(0), c.Close()) }

// openAll opens n websockets. Their source addresses have the index first and above. The websockets are closed when the test
// ends.
func (h *host) openAll(t *testing.T, n int, first int) []*conn {
	t.Helper()
	conns := make([]*conn, n)
	var failed atomic.Pointer[error]
	stack.Each(n, 64, func(i int) {
		c, err := h.open(t.Context(), h.address((first+i)/perAddress), "", 0)
		if err != nil {
			failed.Store(&err)
			return
		}
		conns[i] = c
	})
	t.Cleanup(func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	})
	if err := failed.Load(); err != nil {
		t.Fatalf("open %d connections: %v", n, *err)
	}
	return conns
}

// gauges contains the values of the metrics of a process, by name with labels.
type gauges map[string]float64

func (h *host) gauges(t *testing.T) gauges {
	t.Helper()
	res, err := http.Get("http://" + h.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	g := gauges{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			g[name] = n
		}
	}
	return g
}

func (g gauges) sockets() int       { return int(g["sc_sockets"]) }
func (g gauges) goroutines() int    { return int(g["go_goroutines"]) }
func (g gauges) files() int         { return int(g["process_open_fds"]) }
func (g gauges) resident() int      { return int(g["process_resident_memory_bytes"]) }
func (g gauges) collections() int   { return int(g["go_gc_duration_seconds_count"]) }
func (g gauges) slowConsumers() int { return int(g[`sc_socket_closed_total{code="4008"}`]) }
func (g gauges) near(o gauges) bool {
	return within5(g.goroutines(), o.goroutines()) && within5(g.files(), o.files())
}
func within5(a, b int) bool { return a-b <= 5 && b-a <= 5 }

// maxConnections returns the number of connections that both this process and the api may open, limited by their maximum
// numbers of open files.
func (h *host) maxConnections(t *testing.T) int {
	t.Helper()
	const own = 1000
	var limit syscall.Rlimit // the Go runtime raises the soft limit at start
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", h.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			api, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(min(limit.Cur, api)) - own
		}
	}
	t.Fatalf("/proc/%d/limits contains no limit of open files", h.PID())
	return 0
}
