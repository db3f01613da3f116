package socket

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
)

const (
	beat        = 200 * time.Millisecond // how late a change may be told
	mostSockets = 200
	mostFrame   = 256 << 10 // of a client
	mostWaiting = 64        // messages of a client that are not yet read
	// slowest is how long a frame may take to be written: a subscriber that does
	// not read for so long is cut.
	slowest = 5 * time.Second
)

// Text is a frame that is no JSON.
type Text string

// Session is one connection as its venue sees it. One goroutine uses it.
type Session interface {
	// Take reads a message of the client and gives the frames that answer it.
	Take(message []byte) []any
	// Beat gives the frames on what has come about since it was last called.
	Beat() []any
	// Follows names the markets that the client is told about.
	Follows() []int64
}

// Server serves the websocket of one venue. It is safe for concurrent use.
type Server struct {
	sw   *control.Switch
	open func() Session

	mu     sync.Mutex
	live   map[*link]bool
	opened int
}

// New builds a server; open makes the session of a new connection.
func New(sw *control.Switch, open func() Session) *Server {
	return &Server{sw: sw, open: open, live: map[*link]bool{}}
}

// link is one connection. What it follows is kept for those who ask.
type link struct {
	conn    *websocket.Conn
	session Session

	mu      sync.Mutex
	follows []int64
}

// Count tells how many connections there are, how many there ever were, and
// which markets they follow.
func (s *Server) Count() (open, ever int, follows []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.live {
		l.mu.Lock()
		follows = append(follows, l.follows...)
		l.mu.Unlock()
	}
	slices.Sort(follows)
	return len(s.live), s.opened, slices.Compact(follows)
}

// ServeHTTP takes a connection and keeps it until either side ends it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.sw.WrapUpgrade(http.HandlerFunc(s.accept)).ServeHTTP(w, r)
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	l := &link{session: s.open()}
	if !s.enter(l) {
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	defer s.leave(l)
	// Any page may connect, as at the venues.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(mostFrame)
	l.conn = conn
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	messages := make(chan []byte, mostWaiting)
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
	s.serve(ctx, l, messages)
}

func (s *Server) enter(l *link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live) >= mostSockets {
		return false
	}
	s.live[l] = true
	s.opened++
	return true
}

func (s *Server) leave(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, l)
}

// serve talks until the connection ends. While the venue hangs nothing is said,
// and what comes about meanwhile is told after it.
func (s *Server) serve(ctx context.Context, l *link, messages <-chan []byte) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		from := messages
		if s.sw.Mode() == control.Hang {
			from = nil
		}
		var frames []any
		select {
		case <-ctx.Done():
			return
		case raw := <-from:
			frames = l.session.Take(raw)
			l.mu.Lock()
			l.follows = l.session.Follows()
			l.mu.Unlock()
		case <-tick.C:
			switch s.sw.Mode() {
			case control.Hang:
				continue
			case control.Refuse:
				return
			case control.Garbage:
				frames = []any{Text(s.sw.Spoiled())}
			default:
				frames = l.session.Beat()
			}
		}
		if !s.say(ctx, l.conn, frames) {
			return
		}
	}
}

// say writes frames; false means that the connection is over.
func (s *Server) say(ctx context.Context, conn *websocket.Conn, frames []any) bool {
	if len(frames) > 0 && s.sw.Mode() == control.Slow {
		timer := time.NewTimer(s.sw.Delay())
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	for _, f := range frames {
		raw, plain := []byte(nil), false
		if text, ok := f.(Text); ok {
			raw, plain = []byte(text), true
		}
		if !plain {
			var err error
			if raw, err = json.Marshal(f); err != nil {
				return false
			}
		}
		if !write(ctx, conn, raw) {
			return false
		}
	}
	return true
}

func write(ctx context.Context, conn *websocket.Conn, raw []byte) bool {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, raw) == nil
}
