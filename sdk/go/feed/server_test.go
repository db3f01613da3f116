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

// server is a fake feed server. Tests set its fields to cause faults.
type server struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	log     []map[string]any // events, oldest first
	newest  map[string]int64
	seq     int64
	oldest  int64 // number of the oldest stored event
	conns   map[*peer]bool
	opened  int
	headers []http.Header

	refuse      []int // status codes with which the next handshakes are refused
	drop        int   // number of next events that are not sent
	noReplay    bool  // dropped events are not replayed either
	repeats     bool  // each event is sent twice
	mute        bool  // neither beats nor events are sent
	noAcks      bool  // subscribe frames are not answered
	noHead      bool  // hello contains no head
	noSnapshots bool  // snapshots are unavailable
}

type peer struct {
	*websocket.Conn
	subs   map[string]bool
	frames int // number of frames of the client
}

// serve starts a fake feed server that sends beats until the end of the test.
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
	if !s.noHead {
		hello["head"] = s.seq
	}
	s.send(p, hello)
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
		s.handle(p, raw)
	}
}

func (s *server) handle(p *peer, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var f struct {
		Op       string
		ID       string
		Channels []string
		Since    map[string]int64
	}
	if err := json.Unmarshal(raw, &f); err != nil || f.Op != "subscribe" && f.Op != "unsubscribe" || len(raw) > 8192 {
		s.t.Errorf("invalid frame of the client: %s %v", raw, err)
		return
	}
	if p.frames++; p.frames > 20 { // the limit of the service for a burst
		s.t.Errorf("the client sent %d frames; want at most 20", p.frames)
	}
	var acked []string
	for _, name := range f.Channels {
		if name == "nowhere" {
			s.send(p, map[string]any{"op": "error", "id": f.ID, "error": "unknown_channel", "message": "none", "channel": name})
			continue
		}
		acked = append(acked, strings.ToLower(name))
	}
	if s.noAcks {
		return
	}
	if f.Op == "unsubscribe" {
		s.send(p, map[string]any{"op": "ack", "id": f.ID, "channels": acked})
		for _, name := range acked {
			delete(p.subs, name)
		}
		return
	}
	s.send(p, map[string]any{"op": "ack", "id": f.ID, "channels": acked})
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
	if name == "live" && s.noSnapshots {
		s.send(p, map[string]any{"op": "error", "id": "s", "error": "db_unavailable", "message": "try again", "channel": name})
	} else if name == "live" {
		s.send(p, map[string]any{"op": "snapshot", "channel": name, "seq": s.seq, "data": map[string]any{"live": []any{}}})
	}
	switch {
	case !resumes:
		return
	case since > s.seq:
		s.send(p, map[string]any{"op": "error", "error": "future_cursor", "channel": name})
		return
	case since < s.oldest-1:
		s.send(p, map[string]any{"op": "gap", "channel": name, "from": since, "oldest": s.oldest})
		since = s.oldest - 1 // the stored events follow
	}
	for _, e := range s.log {
		if e["channel"] == name && e["seq"].(int64) > since && !(s.noReplay && e["lost"] == true) {
			s.send(p, e)
		}
	}
}

func (s *server) send(p *peer, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		s.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if p.Write(ctx, websocket.MessageText, raw) != nil {
		_ = p.CloseNow() // the client closed the connection or is slow
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
				s.send(p, map[string]any{"op": "beat", "head": s.seq, "at": "2026-09-18T12:00:00.000Z"})
			}
		}
		s.mu.Unlock()
	}
}

// file adds n events to a channel and sends them to the subscribers of the channel.
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
			s.send(p, e)
			if s.repeats {
				s.send(p, e)
			}
		}
	}
}

// set calls change with the lock of the server. Tests change the fields of the server with it.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// close closes all connections with a close code; 0: without a close frame.
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
