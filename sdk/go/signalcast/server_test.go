package signalcast

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// quick is a policy whose pauses no test waits for.
var quick = Retry{Tries: 3, First: time.Millisecond, Longest: 20 * time.Millisecond, Each: 10 * time.Second}

// served is a client of a server that does what the test wants.
func served(t *testing.T, o Options, handle func(n int, w http.ResponseWriter, r *http.Request)) (*Client, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			say(w, 200, `{}`)
			return
		}
		handle(int(asked.Add(1)), w, r)
	}))
	t.Cleanup(s.Close)
	o.Hub, o.API, o.Clock = s.URL, s.URL, s.URL
	if o.Retry == (Retry{}) {
		o.Retry = quick
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	// A connection that is used again is where a transport may send by itself.
	if _, err := c.Hub.GetHealthWithResponse(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, &asked
}

// cut ends a connection without an answer.
func cut(w http.ResponseWriter) {
	panic(http.ErrAbortHandler)
}

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
