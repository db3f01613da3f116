package testkit

import (
	"net/http"
	"net/http/httptest"
	"time"
)

const (
	// minTimeout is the shortest timeout that a route sets for one of its reads.
	minTimeout = 300 * time.Millisecond
	// maxAttempts is the maximum number of requests that Serve sends.
	maxAttempts = 5
)

// Serve sends a request to a handler and returns the response. On a busy machine a GET request may exceed a timeout
// of its route, and the response then has the status 503 or the header X-Degraded. Serve repeats a GET request with
// such a response if it took at least 300 ms, up to five requests in total. Failures that a test causes are usually
// faster and are not repeated.
func Serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	for attempt := 1; ; attempt++ {
		w, start := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(w, r.Clone(r.Context()))
		failed := w.Code == http.StatusServiceUnavailable || w.Header().Get("X-Degraded") != ""
		if r.Method != http.MethodGet || !failed || time.Since(start) < minTimeout || attempt == maxAttempts {
			savePage(r, w)
			return w
		}
	}
}
