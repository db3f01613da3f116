package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// pipes is an in-memory network. It works with the simulated time of synctest, unlike real sockets.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.over); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours, nil
}

// quietServer is a feed server without events. It sends hello, acks, and beats until mute is set.
type quietServer struct {
	pause         func(n int) time.Duration // time before beat n
	mu            sync.Mutex
	mute          bool // the server sends no beats
	seq           int
	conns         map[*websocket.Conn]bool
	subscriptions []string // since of the subscribe frame of each connection
}

func (s *quietServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := r.Context()
	s.send(ctx, conn, fmt.Sprintf(`{"op":"hello","protocol":"signal.v1","heartbeatS":30,"head":%d}`, s.head()))
	_, raw, err := conn.Read(ctx)
	if err != nil {
		return
	}
	var f request
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	s.mu.Lock()
	s.subscriptions = append(s.subscriptions, fmt.Sprint(f.Since))
	s.mute, s.conns[conn] = false, true
	s.mu.Unlock()
	s.send(ctx, conn, fmt.Sprintf(`{"op":"ack","id":%q,"channels":["signals"]}`, f.ID))
	for seq := f.Since["signals"] + 1; seq <= int64(s.head()); seq++ {
		s.event(ctx, conn, int(seq))
	}
	ctx = conn.CloseRead(ctx)
	for n := 0; ; n++ {
		select {
		case <-time.After(s.pause(n)):
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		mute := s.mute
		s.mu.Unlock()
		if !mute {
			s.send(ctx, conn, fmt.Sprintf(`{"op":"beat","head":%d,"at":"2026-09-18T12:00:00.000Z"}`, s.head()))
		}
	}
}

func (s *quietServer) send(ctx context.Context, conn *websocket.Conn, frame string) {
	_ = conn.Write(ctx, websocket.MessageText, []byte(frame)) // a closed connection causes an error at the next read
}

func (s *quietServer) event(ctx context.Context, conn *websocket.Conn, seq int) {
	s.send(ctx, conn, fmt.Sprintf(`{"op":"event","channel":"signals","seq":%d,"prev":%d,"type":"signal.created","at":"2026-09-18T12:00:00.000Z","data":{}}`, seq, seq-1))
}

func (s *quietServer) head() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// addEvent adds an event. If mute is set, the server sends neither the event nor beats on the current connection.
func (s *quietServer) addEvent(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	if s.mute = mute; !mute {
		for conn := range s.conns {
			s.event(context.Background(), conn, s.seq)
		}
	}
}

// runQuiet runs a client against a quietServer and calls then. The function received returns what the client has received so
// far.
func runQuiet(t *testing.T, pause func(int) time.Duration, then func(s *quietServer, received func() (beats int, events []int64, phases []Phase), c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &quietServer{pause: pause, seq: 40, conns: map[*websocket.Conn]bool{}}
		network := &pipes{conns: make(chan net.Conn), over: make(chan struct{})}
		server := &http.Server{Handler: s}
		serving := make(chan error, 1)
		go func() { serving <- server.Serve(network) }()
		transport := &http.Transport{DialContext: network.dial}
		var mu sync.Mutex
		var beats int
		var events []int64
		var phases []Phase
		c, err := Open(t.Context(), Options{
			URL: "ws://quiet/ws", Channels: []string{"signals"}, HTTPClient: &http.Client{Transport: transport},
			OnState: func(st State) {
				mu.Lock()
				defer mu.Unlock()
				phases = append(phases, st.Phase)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for m, err := range c.Messages(context.Background()) {
				if err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				mu.Lock()
				switch m := m.(type) {
				case *Beat:
					beats++
				case *Event:
					events = append(events, m.Seq)
				case nil:
				default:
					t.Errorf("unexpected message %T", m)
				}
				mu.Unlock()
			}
		}()
		then(s, func() (int, []int64, []Phase) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return beats, slices.Clone(events), slices.Clone(phases)
		}, c)
		c.Close()
		<-done
		_ = server.Close()
		<-serving
		transport.CloseIdleConnections()
	})
}

// calm lists the phases of a client without a disconnect.
var calm = []Phase{Connecting, Live}

// TestQuietDay checks that a client stays connected and live during a day of beats without events, and that it delivers the event
// at the end at once.
func TestQuietDay(t *testing.T) {
	t.Parallel()
	runQuiet(t, func(int) time.Duration { return 30 * time.Second }, func(s *quietServer, received func() (int, []int64, []Phase), c *Client) {
		<-time.After(24*time.Hour + time.Second)
		beats, events, phases := received()
		if got := c.Stats(); beats != 2880 || len(events) != 0 || !slices.Equal(phases, calm) || got != (Stats{Connections: 1, Head: 40}) {
			t.Errorf("%d beats, events %v, %v, %+v", beats, events, phases, got)
		}
		s.addEvent(false)
		if _, events, phases := received(); !slices.Equal(events, []int64{41}) || !slices.Equal(phases, calm) {
			t.Errorf("events %v, %v", events, phases)
		}
	})
}

// TestLateBeats checks that a client stays connected for a day while beats are late and some are missing.
func TestLateBeats(t *testing.T) {
	t.Parallel()
	late := func(n int) time.Duration {
		return []time.Duration{30, 44, 16, 60, 1, 74}[n%6] * time.Second
	}
	runQuiet(t, late, func(_ *quietServer, received func() (int, []int64, []Phase), c *Client) {
		<-time.After(24 * time.Hour)
		beats, _, phases := received()
		if got := c.Stats(); beats < 2000 || !slices.Equal(phases, calm) || got.Connections != 1 {
			t.Errorf("%d beats, %v, %+v", beats, phases, got)
		}
	})
}

// TestDeadConnection checks that the client replaces an open connection without frames after 2.5 heartbeat intervals, not before,
// and that it loses no event.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	runQuiet(t, func(int) time.Duration { return 30 * time.Second }, func(s *quietServer, received func() (int, []int64, []Phase), _ *Client) {
		<-time.After(24 * time.Hour)
		received()
		s.addEvent(true) // directly after a beat
		<-time.After(74 * time.Second)
		if _, events, phases := received(); len(events) != 0 || !slices.Equal(phases, calm) {
			t.Errorf("after 74 s: events %v, %v", events, phases)
		}
		<-time.After(2 * time.Second)
		want := append(slices.Clone(calm), Reconnecting) // the client may be live again already, because the wait is random
		if _, _, phases := received(); len(phases) < len(want) || !slices.Equal(phases[:len(want)], want) {
			t.Errorf("after 76 s: %v", phases)
		}
		<-time.After(5 * time.Second)
		_, events, phases := received()
		if !slices.Equal(events, []int64{41}) || !slices.Equal(phases, append(slices.Clone(calm), Reconnecting, Connecting, Live)) {
			t.Errorf("after 81 s: events %v, %v", events, phases)
		}
		if want := []string{"map[signals:40]", "map[signals:40]"}; !slices.Equal(s.subscriptions, want) {
			t.Errorf("subscribed since %v; want %v", s.subscriptions, want)
		}
	})
}
