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

// pipes is a network in memory, over which time can be made to pass.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), over: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.over) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- addressed{theirs}
	return ours, nil
}

// addressed is a connection of the loopback net.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4} }

// quiet is a host on which nothing happens.
type quiet struct {
	t      *testing.T
	broker *broker.Broker
	edge   *httpapi.Server
	net    *pipes
	web    *http.Client
	ahead  atomic.Int64 // of the service's clock

	mu     sync.Mutex
	closed []int
}

func newQuiet(t *testing.T) *quiet {
	q := &quiet{t: t, broker: broker.New(8), net: newPipes()}
	now := func() time.Time { return time.Now().Add(time.Duration(q.ahead.Load())) }
	q.broker.Start(40)
	q.broker.SetReady()
	q.edge = httpapi.New(httpapi.Deps{
		Broker: q.broker, Addresses: ratelimit.NewLocal("api", 0, time.Minute, now), Health: httpx.NewHealth("", now),
		Log: slog.New(slog.DiscardHandler), Now: now,
		Closed: func(code int) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.closed = append(q.closed, code)
		},
	})
	server := &http.Server{Handler: q.edge}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(q.net) }()
	transport := &http.Transport{DialContext: q.net.dial}
	q.web = &http.Client{Transport: transport}
	t.Cleanup(func() {
		q.edge.Close(context.Background())
		_ = server.Close()
		if err := <-serving; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		q.broker.Close()
	})
	return q
}

// ended are the close codes so far.
func (q *quiet) ended() []int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]int{}, q.closed...)
}

// heard is what somebody was told, with the time of each frame.
type heard struct {
	mu     sync.Mutex
	frames []frame
	at     []time.Time
	err    error
}

func (h *heard) took(raw []byte, err error) bool {
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

// beats wants n beats, each at its time, since the last look, and nothing else.
func (h *heard) beats(t *testing.T, who string, n int, head float64) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		t.Fatalf("%s was cut off: %v", who, h.err)
	}
	if len(h.frames) < n-1 || len(h.frames) > n+1 {
		t.Errorf("%s: %d beats, want %d", who, len(h.frames), n)
	}
	for i, f := range h.frames {
		if f["op"] != "beat" || f["head"] != head {
			t.Fatalf("%s: %v", who, f)
		}
		if i > 0 && h.at[i].Sub(h.at[i-1]) != 30*time.Second {
			t.Fatalf("%s: a beat after %v", who, h.at[i].Sub(h.at[i-1]))
		}
	}
	h.frames, h.at = nil, nil
}

// socket listens to the calls, with a greeting and an ack.
func (q *quiet) socket(h *heard) (over func()) {
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
			if !h.took(raw, err) {
				return
			}
		}
	}()
	return func() { _ = conn.CloseNow(); <-done }
}

// stream does the same over server-sent events.
func (q *quiet) stream(h *heard) (over func()) {
	res, err := q.web.Get("http://quiet/api/v1/feed/stream?channels=signals")
	if err != nil || res.StatusCode != http.StatusOK {
		q.t.Fatal(res, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(res.Body); ; {
			if !lines.Scan() {
				h.took(nil, errors.Join(lines.Err(), io.EOF))
				return
			}
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				h.took([]byte(data), nil)
			}
		}
	}()
	return func() { _ = res.Body.Close(); <-done }
}

// deaf takes everything and answers nothing, not even a ping.
func (q *quiet) deaf() (ended chan time.Time) {
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

// A day on which nothing happens: each connection hears a beat every thirty seconds,
// nobody is cut off, also when the clock is set on or back by an hour, and at its end an
// event comes at once. Only who answers no ping is dead, and it is found out in time.
func TestQuietDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(t)
		var socket, stream heard
		defer q.socket(&socket)()
		defer q.stream(&stream)()
		synctest.Wait()
		for name, h := range map[string]*heard{"the socket": &socket, "the stream": &stream} {
			if len(h.frames) != 2 || h.frames[0]["op"] != "hello" || h.frames[1]["op"] != "ack" {
				t.Fatalf("%s begins with %v", name, h.frames)
			}
			h.frames, h.at = nil, nil
		}
		began := time.Now()
		ended := q.deaf()
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		switch at := <-ended; {
		case at.Sub(began) < 60*time.Second, at.Sub(began) > 95*time.Second:
			t.Errorf("who answers no ping is cut off after %v", at.Sub(began))
		case len(q.ended()) != 1 || q.ended()[0] != 1008:
			t.Errorf("ended with %v", q.ended())
		}
		q.ahead.Store(int64(time.Hour))
		time.Sleep(6 * time.Hour)
		q.ahead.Store(0)
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		socket.beats(t, "the socket", 2880, 40)
		stream.beats(t, "the stream", 2880, 40)
		if q.edge.Sockets() != 2 || len(q.ended()) != 1 {
			t.Errorf("%d are left, ended with %v", q.edge.Sockets(), q.ended())
		}
		if err := q.broker.Deliver(feed.Message{Seq: 41, Type: feed.SignalCreated, Data: []byte(`{}`), Links: []feed.Link{{Channel: feed.Signals, Prev: 40}}}); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		for name, h := range map[string]*heard{"the socket": &socket, "the stream": &stream} {
			h.mu.Lock()
			if len(h.frames) != 1 || h.frames[0].seq() != 41 || h.at[0].Sub(before) > 5*time.Millisecond {
				t.Errorf("%s hears %v", name, h.frames)
			}
			h.mu.Unlock()
		}
	})
}
