package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
)

const (
	pollInterval = 200 * time.Millisecond // maximum delay of an event
	maxMessage   = 256 << 10              // bytes of a message of a client
	maxQueued    = 64                     // queued messages of a client
	writeTimeout = 5 * time.Second        // a subscriber that does not read is disconnected after it
)

// sockets is the websocket server of one venue. It is safe for concurrent use.
type sockets struct {
	stream *control.Switch
	open   func() venue.Session

	mu          sync.Mutex
	connections map[*connection]bool
	ever        int
}

// connection is the websocket connection of one client. The mutex of sockets guards the field follows.
type connection struct {
	conn    *websocket.Conn
	session venue.Session
	follows []int64
}

// count returns the number of open connections, the number of connections since the start, and the numbers of the followed
// markets.
func (s *sockets) count() (open, ever int, follows []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		follows = append(follows, c.follows...)
	}
	slices.Sort(follows)
	return len(s.connections), s.ever, slices.Compact(follows)
}

// ServeHTTP serves one connection until either side ends it.
func (s *sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // every origin is accepted, as by the venues
	if err != nil {
		return // Accept has sent the error
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxMessage)
	c := &connection{conn: conn, session: s.open()}
	s.mu.Lock()
	s.connections[c] = true
	s.ever++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.connections, c)
	}()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	messages := make(chan []byte, maxQueued)
	go func() {
		defer cancel()
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return
			}
			select {
			case messages <- raw:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.serve(ctx, c, messages)
}

// serve sends replies and events until the connection ends. In mode hang it reads and sends nothing; the events of that time
// follow when the mode ends. In mode garbage it sends invalid messages instead of events, and mode refuse ends the connection.
func (s *sockets) serve(ctx context.Context, c *connection, messages <-chan []byte) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		incoming := messages
		if s.stream.Mode() == control.Hang {
			incoming = nil
		}
		var out []any
		select {
		case <-ctx.Done():
			return
		case raw := <-incoming:
			out = c.session.Receive(raw)
			s.mu.Lock()
			c.follows = c.session.Follows()
			s.mu.Unlock()
		case <-tick.C:
			switch s.stream.Mode() {
			case control.Hang:
				continue
			case control.Refuse:
				return
			case control.Garbage:
				out = []any{venue.Text(s.stream.GarbageMessage())}
			default:
				out = c.session.Poll()
			}
		}
		if !s.send(ctx, c.conn, out) {
			return
		}
	}
}

// send writes messages to conn, in mode slow after a delay. It returns false if the connection has ended.
func (s *sockets) send(ctx context.Context, conn *websocket.Conn, messages []any) bool {
	if len(messages) > 0 && s.stream.Mode() == control.Slow {
		select {
		case <-time.After(s.stream.Delay()):
		case <-ctx.Done():
			return false
		}
	}
	for _, message := range messages {
		raw, err := json.Marshal(message)
		if text, ok := message.(venue.Text); ok {
			raw = []byte(text)
		}
		if err != nil || !write(ctx, conn, raw) {
			return false
		}
	}
	return true
}

func write(ctx context.Context, conn *websocket.Conn, raw []byte) bool {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, raw) == nil
}
