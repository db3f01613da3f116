package feed

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// server speaks the wire format of the feed and misbehaves as it is told.
type server struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	log     []map[string]any // events, oldest first
	newest  map[string]int64
	seq     int64
	oldest  int64 // what is older is gone
	conns   map[*peer]bool
	opened  int
	headers []http.Header

	refuse  []int // statuses of the next handshakes
	drop    int   // next events that are not sent
	forget  bool  // and are not sent again either
	repeats bool  // every event comes twice
	mute    bool  // no beats, no events
	deaf    bool  // no acks
	old     bool  // no head in hello
	sick    bool  // no snapshots
}

type peer struct {
	*websocket.Conn
	subs map[string]bool
	said int // frames
}

func serve(t *testing.T) *server {
	s := &server{t: t, newest: map[string]int64{}, conns: map[*peer]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.open))
	ctx, stop := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() { s.beat(ctx) })
	t.Cleanup(func() {
		stop()
		beating.Wait()
		s.close(0)
		s.Server.Close()
	})
	return s
}

func (s *server) open(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.headers = append(s.headers, r.Header)
	if len(s.refuse) > 0 {
		status := s.refuse[0]
		s.refuse = s.refuse[1:]
		s.mu.Unlock()
		http.Error(w, "no", status)
		return
	}
	s.mu.Unlock()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"signal.v1"}})
	if err != nil {
		return
	}
	p := &peer{Conn: conn, subs: map[string]bool{}}
	s.mu.Lock()
	s.conns[p] = true
	s.opened++
	hello := map[string]any{"op": "hello", "protocol": "signal.v1", "heartbeatS": 4}
	if !s.old {
		hello["head"] = s.seq
	}
	s.say(p, hello)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.conns, p)
		s.mu.Unlock()
		_ = conn.CloseNow()
	}()
	for {
		_, raw, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		s.take(p, raw)
	}
}

func (s *server) take(p *peer, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var f struct {
		Op       string
		ID       string
		Channels []string
		Since    map[string]int64
	}
	if err := json.Unmarshal(raw, &f); err != nil || f.Op != "subscribe" && f.Op != "unsubscribe" || len(raw) > 8192 {
		s.t.Errorf("a client frame: %s %v", raw, err)
		return
	}
	if p.said++; p.said > 20 { // more than the limit of the service, at once
		s.t.Error("too many frames")
	}
	var acked []string
	for _, name := range f.Channels {
		if name == "nowhere" {
			s.say(p, map[string]any{"op": "error", "id": f.ID, "error": "unknown_channel", "message": "none", "channel": name})
			continue
		}
		acked = append(acked, strings.ToLower(name))
	}
	if s.deaf {
		return
	}
	if f.Op == "unsubscribe" {
		s.say(p, map[string]any{"op": "ack", "id": f.ID, "channels": acked})
		for _, name := range acked {
			delete(p.subs, name)
		}
		return
	}
	s.say(p, map[string]any{"op": "ack", "id": f.ID, "channels": acked})
	for _, name := range f.Channels {
		since, resumes := f.Since[name]
		s.replay(p, strings.ToLower(name), since, resumes)
	}
}

func (s *server) replay(p *peer, name string, since int64, resumes bool) {
	if name == "nowhere" {
		return
	}
	p.subs[name] = true
	if name == "live" && s.sick {
		s.say(p, map[string]any{"op": "error", "id": "s", "error": "db_unavailable", "message": "try again", "channel": name})
	} else if name == "live" {
		s.say(p, map[string]any{"op": "snapshot", "channel": name, "seq": s.seq, "data": map[string]any{"live": []any{}}})
	}
	switch {
	case !resumes:
		return
	case since > s.seq:
		s.say(p, map[string]any{"op": "error", "error": "future_cursor", "channel": name})
		return
	case since < s.oldest-1:
		s.say(p, map[string]any{"op": "gap", "channel": name, "from": since, "oldest": s.oldest})
		since = s.oldest - 1 // what is kept follows
	}
	for _, e := range s.log {
		if e["channel"] == name && e["seq"].(int64) > since && !(s.forget && e["lost"] == true) {
			s.say(p, e)
		}
	}
}

func (s *server) say(p *peer, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		s.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if p.Write(ctx, websocket.MessageText, raw) != nil {
		_ = p.CloseNow() // gone, or a slow consumer
	}
}

func (s *server) beat(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		for p := range s.conns {
			if !s.mute {
				s.say(p, map[string]any{"op": "beat", "head": s.seq, "at": "2026-09-18T12:00:00.000Z"})
			}
		}
		s.mu.Unlock()
	}
}

// file makes events of a channel.
func (s *server) file(name string, n int, data any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.seq++
		e := map[string]any{"op": "event", "channel": name, "seq": s.seq, "prev": nil, "type": "signal.created", "at": "2026-09-18T12:00:00.000Z", "data": data}
		if prev := s.newest[name]; prev > 0 {
			e["prev"] = prev
		}
		s.newest[name] = s.seq
		s.log = append(s.log, e)
		if s.drop > 0 {
			s.drop--
			e["lost"] = true
			continue
		}
		for p := range s.conns {
			if !p.subs[name] || s.mute {
				continue
			}
			s.say(p, e)
			if s.repeats {
				s.say(p, e)
			}
		}
	}
}

// set changes how the server behaves.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// close ends every connection with a code; 0 is a cut.
func (s *server) close(code int) {
	s.mu.Lock()
	conns := s.conns
	s.conns = map[*peer]bool{}
	s.mu.Unlock()
	for p := range conns {
		if code == 0 {
			_ = p.CloseNow()
		} else {
			_ = p.Close(websocket.StatusCode(code), "so")
		}
	}
}
