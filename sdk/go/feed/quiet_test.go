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

// pipes is a network in memory, over which time can be made to pass.
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

// silent is a server on which nothing happens: it greets, acknowledges and beats, each
// beat after what pause says, until it falls silent.
type silent struct {
	pause func(n int) time.Duration
	mu    sync.Mutex
	mute  bool
	seq   int
	conns map[*websocket.Conn]bool
	asked []string // how each connection began
}

func (s *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := r.Context()
	s.say(ctx, conn, fmt.Sprintf(`{"op":"hello","protocol":"signal.v1","heartbeatS":30,"head":%d}`, s.number()))
	_, raw, err := conn.Read(ctx)
	if err != nil {
		return
	}
	var f request
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprint(f.Since))
	s.mute, s.conns[conn] = false, true
	s.mu.Unlock()
	s.say(ctx, conn, fmt.Sprintf(`{"op":"ack","id":%q,"channels":["signals"]}`, f.ID))
	for seq := f.Since["signals"] + 1; seq <= int64(s.number()); seq++ {
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
			s.say(ctx, conn, fmt.Sprintf(`{"op":"beat","head":%d,"at":"2026-09-18T12:00:00.000Z"}`, s.number()))
		}
	}
}

func (s *silent) say(ctx context.Context, conn *websocket.Conn, frame string) {
	_ = conn.Write(ctx, websocket.MessageText, []byte(frame)) // a connection that is gone shows at the next read
}

func (s *silent) event(ctx context.Context, conn *websocket.Conn, seq int) {
	s.say(ctx, conn, fmt.Sprintf(`{"op":"event","channel":"signals","seq":%d,"prev":%d,"type":"signal.created","at":"2026-09-18T12:00:00.000Z","data":{}}`, seq, seq-1))
}

func (s *silent) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// happen is an event at last. Who does not hear it is told when it comes back.
func (s *silent) happen(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	if s.mute = mute; !mute {
		for conn := range s.conns {
			s.event(context.Background(), conn, s.seq)
		}
	}
}

// quietly runs a client against a silent server. What it was told is gathered.
func quietly(t *testing.T, pause func(int) time.Duration, then func(s *silent, told func() (beats int, events []int64, phases []Phase), c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &silent{pause: pause, seq: 40, conns: map[*websocket.Conn]bool{}}
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
					t.Errorf("told of %T", m)
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

var calm = []Phase{Connecting, Live}

// TestQuietDay: a day of beats and nothing else is no fault: nothing is reported, asked
// for or connected again, and the event at its end comes at once.
func TestQuietDay(t *testing.T) {
	t.Parallel()
	quietly(t, func(int) time.Duration { return 30 * time.Second }, func(s *silent, told func() (int, []int64, []Phase), c *Client) {
		<-time.After(24*time.Hour + time.Second)
		beats, events, phases := told()
		if got := c.Stats(); beats != 2880 || len(events) != 0 || !slices.Equal(phases, calm) || got != (Stats{Connections: 1, Head: 40}) {
			t.Errorf("%d beats, events %v, %v, %+v", beats, events, phases, got)
		}
		s.happen(false)
		if _, events, phases := told(); !slices.Equal(events, []int64{41}) || !slices.Equal(phases, calm) {
			t.Errorf("events %v, %v", events, phases)
		}
	})
}

// TestLateBeats: beats that come late, or of which one is missing now and then, are no
// fault for a day either.
func TestLateBeats(t *testing.T) {
	t.Parallel()
	late := func(n int) time.Duration {
		return []time.Duration{30, 44, 16, 60, 1, 74}[n%6] * time.Second
	}
	quietly(t, late, func(_ *silent, told func() (int, []int64, []Phase), c *Client) {
		<-time.After(24 * time.Hour)
		beats, _, phases := told()
		if got := c.Stats(); beats < 2000 || !slices.Equal(phases, calm) || got.Connections != 1 {
			t.Errorf("%d beats, %v, %+v", beats, phases, got)
		}
	})
}

// TestDeadAfterQuiet: a connection that stays open and says nothing any more is given up
// when two beats have not come, not before; what happened meanwhile is not lost.
func TestDeadAfterQuiet(t *testing.T) {
	t.Parallel()
	quietly(t, func(int) time.Duration { return 30 * time.Second }, func(s *silent, told func() (int, []int64, []Phase), _ *Client) {
		<-time.After(24 * time.Hour)
		told()
		s.happen(true) // right behind a beat
		<-time.After(74 * time.Second)
		if _, events, phases := told(); len(events) != 0 || !slices.Equal(phases, calm) {
			t.Errorf("after 74 s: events %v, %v", events, phases)
		}
		<-time.After(2 * time.Second)
		given := append(slices.Clone(calm), Reconnecting) // and perhaps live again: the wait is random
		if _, _, phases := told(); len(phases) < len(given) || !slices.Equal(phases[:len(given)], given) {
			t.Errorf("after 76 s: %v", phases)
		}
		<-time.After(5 * time.Second)
		_, events, phases := told()
		if !slices.Equal(events, []int64{41}) || !slices.Equal(phases, append(slices.Clone(calm), Reconnecting, Connecting, Live)) {
			t.Errorf("after 81 s: events %v, %v", events, phases)
		}
		if want := []string{"map[signals:40]", "map[signals:40]"}; !slices.Equal(s.asked, want) {
			t.Errorf("asked for %v", s.asked)
		}
	})
}
