package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// memoryNet is a network in memory. It works in a synctest bubble, in which time is simulated.
type memoryNet struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func newMemoryNet() *memoryNet {
	return &memoryNet{conns: make(chan net.Conn), over: make(chan struct{})}
}

func (p *memoryNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *memoryNet) Close() error   { p.once.Do(func() { close(p.over) }); return nil }
func (p *memoryNet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *memoryNet) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- addressed{server}
	return client, nil
}

// addressed is a connection whose remote address is a loopback address.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4} }

// quietServer is a server on a memoryNet whose feed has no events.
type quietServer struct {
	t      *testing.T
	broker *broker.Broker
	server *httpapi.Server
	net    *memoryNet
	web    *http.Client
	ahead  atomic.Int64 // offset of the server's clock from the simulated time

	mu     sync.Mutex
	closed []int
}

func newQuietServer(t *testing.T) *quietServer {
	q := &quietServer{t: t, broker: broker.New(8), net: newMemoryNet()}
	now := func() time.Time { return time.Now().Add(time.Duration(q.ahead.Load())) }
	q.broker.Start(40)
	q.broker.SetReady()
	q.server = httpapi.New(httpapi.Deps{
		Broker: q.broker, Addresses: ratelimit.NewShared(nil, ratelimit.Config{Name: "api", Limit: 0, Window: time.Minute, Now: now}), Health: httpx.NewHealth("", now),
		Log: slog.New(slog.DiscardHandler), Now: now,
		Closed: func(code int) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.closed = append(q.closed, code)
		},
	})
	server := &http.Server{Handler: q.server}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(q.net) }()
	transport := &http.Transport{DialContext: q.net.dial}
	q.web = &http.Client{Transport: transport}
	t.Cleanup(func() {
		q.server.Close(context.Background())
		_ = server.Close()
		if err := <-serving; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		q.broker.Close()
	})
	return q
}

// ended returns the close codes of the sockets that have ended so far.
func (q *quietServer) ended() []int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]int{}, q.closed...)
}

// received contains the frames that one client has received, with their times.
type received struct {
	mu     sync.Mutex
	frames []frame
	at     []time.Time
	err    error
}

// add stores a frame, or the error that ended the connection. It returns false for an error.
func (h *received) add(raw []byte, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.err = err
		return false
	}
	var f frame
	if h.err = json.Unmarshal(raw, &f); h.err != nil {
		return false
	}
	h.frames, h.at = append(h.frames, f), append(h.at, time.Now())
	return true
}

// beats requires that the client has received n heartbeats, 30 s apart, and no other frame since the last call.
func (h *received) beats(t *testing.T, who string, n int, head float64) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		t.Fatalf("%s was disconnected: %v", who, h.err)
	}
	if len(h.frames) < n-1 || len(h.frames) > n+1 {
		t.Errorf("%s: %d heartbeats, want %d", who, len(h.frames), n)
	}
	for i, f := range h.frames {
		if f["op"] != "beat" || f["head"] != head {
			t.Fatalf("%s: got frame %v, want a heartbeat", who, f)
		}
		if i > 0 && h.at[i].Sub(h.at[i-1]) != 30*time.Second {
			t.Fatalf("%s: heartbeats %v apart, want 30s", who, h.at[i].Sub(h.at[i-1]))
		}
	}
	h.frames, h.at = nil, nil
}

// socket opens a websocket that subscribes to channel signals, and stores its frames in h. The function that it returns closes
// it.
func (q *quietServer) socket(h *received) (over func()) {
	conn, res, err := websocket.Dial(q.t.Context(), "ws://quiet/ws", &websocket.DialOptions{HTTPClient: q.web})
	if err != nil {
		q.t.Fatal(err)
	}
	_ = res.Body
	if err := conn.Write(q.t.Context(), websocket.MessageText, []byte(`{"op":"subscribe","channels":["signals"]}`)); err != nil {
		q.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, raw, err := conn.Read(context.Background())
			if !h.add(raw, err) {
				return
			}
		}
	}()
	return func() { _ = conn.CloseNow(); <-done }
}

// stream opens a stream of server-sent events of channel signals, and stores its frames in h. The function that it returns
// closes it.
func (q *quietServer) stream(h *received) (over func()) {
	res, err := q.web.Get("http://quiet/api/v1/feed/stream?channels=signals")
	if err != nil || res.StatusCode != http.StatusOK {
		q.t.Fatal(res, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(res.Body); ; {
			if !lines.Scan() {
				h.add(nil, errors.Join(lines.Err(), io.EOF))
				return
			}
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				h.add([]byte(data), nil)
			}
		}
	}()
	return func() { _ = res.Body.Close(); <-done }
}

// silent opens a websocket that reads everything but sends nothing, not even a pong. The channel receives the time at which the
// server closes it.
func (q *quietServer) silent() (ended chan time.Time) {
	conn, err := q.net.dial(q.t.Context(), "", "")
	if err != nil {
		q.t.Fatal(err)
	}
	ended = make(chan time.Time, 1)
	go func() {
		_, _ = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: quiet\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		ended <- time.Now()
		_ = conn.Close()
	}()
	return ended
}

// TestQuietDay simulates a day without events. Each connection must get a heartbeat every 30 seconds and stay open, also when
// the clock is set forward or back by an hour. An event at the end of the day must arrive at once. A client that answers no
// pings must be disconnected after the pong timeout.
func TestQuietDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuietServer(t)
		var socket, stream received
		defer q.socket(&socket)()
		defer q.stream(&stream)()
		synctest.Wait()
		for name, h := range map[string]*received{"the socket": &socket, "the stream": &stream} {
			if len(h.frames) != 2 || h.frames[0]["op"] != "hello" || h.frames[1]["op"] != "ack" {
				t.Fatalf("%s begins with %v", name, h.frames)
			}
			h.frames, h.at = nil, nil
		}
		began := time.Now()
		ended := q.silent()
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		switch at := <-ended; {
		case at.Sub(began) < 60*time.Second, at.Sub(began) > 95*time.Second:
			t.Errorf("a client without pongs was disconnected after %v; want 60 to 95 s", at.Sub(began))
		case len(q.ended()) != 1 || q.ended()[0] != 1008:
			t.Errorf("close codes %v, want one 1008", q.ended())
		}
		q.ahead.Store(int64(time.Hour))
		time.Sleep(6 * time.Hour)
		q.ahead.Store(0)
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		socket.beats(t, "the socket", 2880, 40)
		stream.beats(t, "the stream", 2880, 40)
		if q.server.Sockets() != 2 || len(q.ended()) != 1 {
			t.Errorf("%d sockets are open, close codes %v; want 2 and one code", q.server.Sockets(), q.ended())
		}
		if err := q.broker.Deliver(feed.Message{Seq: 41, Type: feed.SignalCreated, Data: []byte(`{}`), Links: []feed.Link{{Channel: feed.Signals, Prev: 40}}}); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		for name, h := range map[string]*received{"the socket": &socket, "the stream": &stream} {
			h.mu.Lock()
			if len(h.frames) != 1 || h.frames[0].seq() != 41 || h.at[0].Sub(before) > 5*time.Millisecond {
				t.Errorf("%s: got %v, want event 41 within 5 ms", name, h.frames)
			}
			h.mu.Unlock()
		}
	})
}
