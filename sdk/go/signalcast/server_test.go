package signalcast

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// quick is a retry policy with short wait times.
var quick = Retry{Tries: 3, First: time.Millisecond, Longest: 20 * time.Millisecond, Each: 10 * time.Second}

// served returns a Client of a fake server that answers with handle, and the number of requests that handle has received. n is
// the number of the request, from 1.
func served(t *testing.T, o Options, handle func(n int, w http.ResponseWriter, r *http.Request)) (*Client, *atomic.Int64) {
	t.Helper()
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			say(w, 200, `{}`)
			return
		}
		handle(int(requests.Add(1)), w, r)
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
	// Open a connection first, because the transport retries by itself only on a reused connection.
	if _, err := c.Hub.GetHealthWithResponse(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, &requests
}

// cut closes the connection without an answer.
func cut(w http.ResponseWriter) {
	panic(http.ErrAbortHandler)
}

// say answers a request with a status and a JSON body.
func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
