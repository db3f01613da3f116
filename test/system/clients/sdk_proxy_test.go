package clients

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// changingProxy is a proxy for a service that changes requests and answers, or drops answers.
type changingProxy struct {
	to     string
	ask    func(*http.Request)                    // changes a request; may be nil
	answer func(r *http.Request, b []byte) []byte // changes the body of an answer; may be nil
	lose   func(r *http.Request) bool             // reports whether to drop the answer of the service
	n      atomic.Int64
	lost   atomic.Int64
}

// open starts the proxy and returns its address.
func (b *changingProxy) open(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return s.URL
}

// ServeHTTP implements http.Handler.
func (b *changingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, b.to+r.URL.RequestURI(), r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header, out.ContentLength = r.Header.Clone(), r.ContentLength
	if b.ask != nil {
		b.ask(out)
	}
	a, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if a.StatusCode < 500 { // the library repeats requests with other statuses
		b.n.Add(1)
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if b.answer != nil && a.StatusCode < 300 {
		body = b.answer(r, body)
	}
	for name, values := range a.Header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	if b.lose != nil && b.lose(r) {
		if b.lost.Add(1)%2 == 0 { // every second answer is cut within its body
			w.WriteHeader(a.StatusCode)
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body)
}

// droppedAnswers records the dropped answers by credential and path.
type droppedAnswers struct {
	mu   sync.Mutex
	seen map[string]bool
}

// first reports whether the request is the first POST request of its caller to its path.
func (l *droppedAnswers) first(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	who := r.Header.Get("Authorization") + " " + r.URL.Path
	again := l.seen[who]
	l.seen[who] = true
	return !again
}

// addUnknownValues changes an answer as a later version of the API could: it adds unknown members to every object and
// replaces enumerated values by unknown ones.
func addUnknownValues(_ *http.Request, body []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return body
	}
	addUnknownMembers(v)
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return out
}

func addUnknownMembers(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if s, ok := child.(string); ok && (name == "status" || name == "tier" || name == "operatorType" || name == "lane") {
				v[name] = "brewing_" + strings.ToLower(s)
			}
			addUnknownMembers(child)
		}
		v["addUnknownValues"] = map[string]any{"at": time.Now(), "list": []any{1, nil, "x"}}
	case []any:
		for _, child := range v {
			addUnknownMembers(child)
		}
	}
}
