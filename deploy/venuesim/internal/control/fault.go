package control

import (
	"bytes"
	"net"
	"net/http"
	"sync"
	"time"
)

// Mode is a way of failing.
type Mode string

// The modes of failing.
const (
	None    Mode = "none"
	Refuse  Mode = "refuse"  // the connection is closed at once
	Hang    Mode = "hang"    // no answer until the client leaves or the time is over
	Slow    Mode = "slow"    // the right answer, late
	Garbage Mode = "garbage" // truncated JSON, HTML, JSON of wrong types, by turns
	Limited Mode = "429"
)

// usualDelay is how late an answer comes in mode slow, unless a test says otherwise.
const usualDelay = 5 * time.Second

// Known says whether m is one of the modes.
func (m Mode) Known() bool {
	switch m {
	case None, Refuse, Hang, Slow, Garbage, Limited:
		return true
	}
	return false
}

// Switch makes one venue fail for a while.
type Switch struct {
	now func() time.Time

	mu      sync.Mutex
	mode    Mode
	until   time.Time
	changed chan struct{} // closed when the mode is set anew
	turn    int
	delay   time.Duration // of mode slow
	limited limited
}

// limited is what a venue says when it is asked too often.
type limited struct{ contentType, body string }

// edge is the word of the network in front of a venue.
var edge = limited{"text/plain; charset=UTF-8", "error code: 1015"}

// NewSwitch gives a switch in mode none.
func NewSwitch(now func() time.Time) *Switch {
	return &Switch{now: now, mode: None, delay: usualDelay, changed: make(chan struct{}), limited: edge}
}

// Limiting gives the switch the venue's own JSON for mode 429.
func (s *Switch) Limiting(body string) *Switch {
	s.limited = limited{"application/json", body}
	return s
}

// Delay is how late an answer comes in mode slow.
func (s *Switch) Delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delay
}

// Set starts a mode and ends the one before, also for requests that hang in it. delay is that
// of mode slow.
func (s *Switch) Set(m Mode, d, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mode, s.until, s.turn, s.delay = m, s.now().Add(d), 0, delay
}

func (s *Switch) read() (mode Mode, left time.Duration, changed <-chan struct{}, turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left = s.until.Sub(s.now()); s.mode == None || left <= 0 {
		return None, 0, s.changed, 0
	}
	if s.mode == Garbage {
		s.turn++
	}
	return s.mode, left, s.changed, s.turn
}

// Mode is the way in which the venue fails now.
func (s *Switch) Mode() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode == None || !s.now().Before(s.until) {
		return None
	}
	return s.mode
}

// Wrap puts the switch in front of a venue.
func (s *Switch) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode, left, changed, turn := s.read()
		switch mode {
		case Hang:
			if pause(r, left, changed) {
				next.ServeHTTP(w, r)
			}
		case Garbage:
			spoil(w, r, next, turn)
		default:
			s.pass(w, r, next, mode)
		}
	})
}

// WrapUpgrade puts the switch in front of a websocket: one that hangs or tells
// garbage takes connections first.
func (s *Switch) WrapUpgrade(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.pass(w, r, next, s.Mode()) })
}

// pass fails in the ways that are those of requests and of connections alike.
func (s *Switch) pass(w http.ResponseWriter, r *http.Request, next http.Handler, mode Mode) {
	switch mode {
	case Refuse:
		hangUp(w)
	case Limited:
		w.Header().Set("Content-Type", s.limited.contentType)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(s.limited.body))
	case Slow:
		if pause(r, s.Delay(), nil) {
			next.ServeHTTP(w, r)
		}
	default:
		next.ServeHTTP(w, r)
	}
}

// hangUp resets the connection without a byte of an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// pause waits; false means that the client has left.
func pause(r *http.Request, d time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
		return true
	case <-r.Context().Done():
		return false
	}
}

var wrongTypes = []byte(`{"id":{"n":7},"markets":{"id":[1]},"events":"none","next_cursor":[3],"outcomes":5,` +
	`"outcomePrices":true,"closed":"maybe","endDate":17,"history":{"t":"x"},"mid":[],"condition_id":false,"tokens":"two",` +
	`"market":["x"],"event":4,"series":"s","cursor":{"c":1},"candlesticks":"none","data":{"d":1},"totalMarketsCount":[2],"prices":7}`)

const htmlPage = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"

// Spoiled is a message that is not the one expected, each time of another form.
func (s *Switch) Spoiled() []byte {
	switch _, _, _, turn := s.read(); turn % 3 {
	case 1:
		return wrongTypes[:len(wrongTypes)/2]
	case 2:
		return []byte(htmlPage)
	}
	return wrongTypes
}

// spoil answers 200 with something that is not the answer.
func spoil(w http.ResponseWriter, r *http.Request, next http.Handler, turn int) {
	switch turn % 3 {
	case 1: // half of the right answer
		kept := &keeper{header: http.Header{}}
		next.ServeHTTP(kept, r)
		body := kept.Bytes()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:(len(body)+1)/2])
	case 2:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = w.Write([]byte(htmlPage))
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(wrongTypes)
	}
}

// keeper holds an answer back.
type keeper struct {
	bytes.Buffer
	header http.Header
}

func (k *keeper) Header() http.Header { return k.header }
func (k *keeper) WriteHeader(int)     {}
