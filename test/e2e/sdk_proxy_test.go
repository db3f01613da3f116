package e2e

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

// between is a proxy before a service that does to requests and answers what a bad network,
// or a service of another age, does.
type between struct {
	to     string
	ask    func(*http.Request)                    // changes a request; nil: nothing
	answer func(r *http.Request, b []byte) []byte // changes a body; nil: nothing
	lose   func(n int64, r *http.Request) bool    // whether the answer is lost after the service gave it
	n      atomic.Int64
	lost   atomic.Int64
}

// open gives the address of the proxy.
func (b *between) open(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return s.URL
}

// ServeHTTP implements http.Handler.
func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, b.to+r.URL.RequestURI(), r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header, out.ContentLength = r.Header.Clone(), r.ContentLength
	if b.ask != nil {
		b.ask(out)
	}
	n := b.n.Add(1)
	a, err := httpClient.Do(out)
	if err != nil {
		panic(http.ErrAbortHandler)
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
	if b.lose != nil && b.lose(n, r) {
		if b.lost.Add(1)%2 == 0 { // cut before a word, or in the middle of the body
			w.WriteHeader(a.StatusCode)
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body)
}

// losing remembers whose answer was lost already, by the credential and the path.
type losing struct {
	mu   sync.Mutex
	seen map[string]bool
}

// first loses the answer to the first POST of each caller on each path.
func (l *losing) first(_ int64, r *http.Request) bool {
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

// ofNextYear adds members to every object of an answer, and gives what is counted in words
// of a kind that nobody knows yet.
func ofNextYear(_ *http.Request, body []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return body
	}
	grow(v)
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return out
}

func grow(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if s, ok := child.(string); ok && (name == "status" || name == "tier" || name == "operatorType" || name == "lane") {
				v[name] = "brewing_" + strings.ToLower(s)
			}
			grow(child)
		}
		v["ofNextYear"] = map[string]any{"at": time.Now(), "list": []any{1, nil, "x"}}
	case []any:
		for _, child := range v {
			grow(child)
		}
	}
}
