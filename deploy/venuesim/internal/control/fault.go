package control

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

// Mode is the way in which a venue fails.
type Mode string

// Modes of a Switch. None means that the venue works.
const (
	None        Mode = "none"
	Refuse      Mode = "refuse"  // the connection is closed
	Hang        Mode = "hang"    // no answer until the client disconnects or the time is over
	Slow        Mode = "slow"    // the correct answer, late
	Garbage     Mode = "garbage" // alternately truncated JSON, HTML, and JSON of wrong types
	RateLimited Mode = "429"     // status 429
)

// defaultDelay is the delay of a response in mode slow if Set receives no delay.
const defaultDelay = 5 * time.Second

func (m Mode) valid() bool {
	return slices.Contains([]Mode{None, Refuse, Hang, Slow, Garbage, RateLimited}, m)
}

// Switch makes the reads or the websocket of one venue fail for a time. It is safe for concurrent use.
type Switch struct {
	now         func() time.Time
	rateLimited string // JSON body of status 429; empty: plain text of a proxy

	mu      sync.Mutex
	mode    Mode
	until   time.Time
	delay   time.Duration // of mode slow
	turn    int           // number of answers in mode garbage
	changed chan struct{} // closed when the mode changes
}

// NewSwitch returns a switch in mode none. The parameter rateLimited is the JSON body of responses with status 429. If it is
// empty, these responses contain the plain text of a proxy in front of the venue.
func NewSwitch(now func() time.Time, rateLimited string) *Switch {
	return &Switch{now: now, rateLimited: rateLimited, mode: None, changed: make(chan struct{})}
}

// Set starts the mode m for the duration d. It ends the previous mode, also for requests that hang. The parameter delay is
// the delay of a response in mode slow; 0 means defaultDelay.
func (s *Switch) Set(m Mode, d, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	if delay == 0 {
		delay = defaultDelay
	}
	s.changed = make(chan struct{})
	s.mode, s.until, s.turn, s.delay = m, s.now().Add(d), 0, delay
}

// Mode returns the current mode, which is None after the duration of Set has passed.
func (s *Switch) Mode() Mode {
	mode, _, _ := s.state()
	return mode
}

// Delay returns the delay of a response in mode slow.
func (s *Switch) Delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delay
}

func (s *Switch) state() (mode Mode, left time.Duration, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left = s.until.Sub(s.now()); left <= 0 {
		return None, 0, s.changed
	}
	return s.mode, left, s.changed
}

// Wrap returns a handler that applies the mode of the switch to the reads of a venue.
func (s *Switch) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch mode, left, changed := s.state(); mode {
		case Hang:
			if pause(r, left, changed) {
				next.ServeHTTP(w, r)
			}
		case Garbage:
			s.answerGarbage(w, r, next)
		default:
			s.pass(w, r, next, mode)
		}
	})
}

// WrapUpgrade returns a handler that applies the mode of the switch to websocket upgrades. In the modes hang and garbage it
// passes the upgrade to next, and the websocket server applies the mode.
func (s *Switch) WrapUpgrade(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.pass(w, r, next, s.Mode()) })
}

// pass applies the modes refuse, 429 and slow, which have the same effect on reads and on websockets. In other modes it calls
// the handler next.
func (s *Switch) pass(w http.ResponseWriter, r *http.Request, next http.Handler, mode Mode) {
	switch mode {
	case Refuse:
		panic(http.ErrAbortHandler) // closes the connection without an answer
	case RateLimited:
		contentType, body := "application/json", s.rateLimited
		if body == "" {
			contentType, body = "text/plain; charset=UTF-8", "error code: 1015"
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(body))
	case Slow:
		if pause(r, s.Delay(), nil) {
			next.ServeHTTP(w, r)
		}
	default:
		next.ServeHTTP(w, r)
	}
}

// pause waits until d has passed or changed is closed. It returns false if the client disconnects first.
func pause(r *http.Request, d time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-r.Context().Done():
		return false
	}
	return true
}

const (
	htmlPage   = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
	wrongTypes = `{"id":{"n":7},"markets":{"id":[1]},"events":"none","next_cursor":[3],"outcomes":5,"closed":"maybe",` +
		`"outcomePrices":true,"endDate":17,"history":{"t":"x"},"condition_id":false,"tokens":"two","market":["x"],"event":4,` +
		`"series":"s","cursor":{"c":1},"candlesticks":"none","data":{"d":1},"totalMarketsCount":[2],"prices":7}`
)

// nextTurn returns a number that selects the form of the next invalid response or message: 1, 2, 0, 1 and so on.
func (s *Switch) nextTurn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	return s.turn % 3
}

// GarbageMessage returns an invalid websocket message. The form of the message changes with each call of nextTurn.
func (s *Switch) GarbageMessage() string {
	switch s.nextTurn() {
	case 1:
		return wrongTypes[:len(wrongTypes)/2]
	case 2:
		return htmlPage
	}
	return wrongTypes
}

// answerGarbage writes an invalid response with status 200: alternately half of the correct body, HTML, or JSON of wrong types.
func (s *Switch) answerGarbage(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch s.nextTurn() {
	case 1:
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(whole.Body.Bytes()[:(whole.Body.Len()+1)/2])
	case 2:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = w.Write([]byte(htmlPage))
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(wrongTypes))
	}
}
