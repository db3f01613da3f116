package ask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Doer sends requests, again where that is safe. It follows no redirect, so that no
// secret goes where it was not sent.
type Doer struct {
	client http.Client
	wait   func(context.Context, time.Duration) error
}

const (
	tries       = 4                      // of one request, in all
	firstWait   = 250 * time.Millisecond // doubled each time
	longestWait = 5 * time.Second        // an answer that asks for more is returned
	perTry      = 15 * time.Second
)

// NewDoer gives one; wait may be nil, and is then real time.
func NewDoer(wait func(context.Context, time.Duration) error) *Doer {
	if wait == nil {
		wait = dbtime.Sleep
	}
	return &Doer{wait: wait, client: http.Client{
		Timeout:       perTry,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements the client's HttpRequestDoer. Faults: a Lost when a write had a connection
// and no answer in the end; that of the transport.
func (d *Doer) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	ctx, sent := Connecting(r.Context())
	r = r.WithContext(ctx)
	lost := false // an answer of one of the tries
	pause := firstWait
	for n := 1; ; n++ {
		if r.Body != nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		*sent = false
		a, err := d.client.Do(r)
		lost = lost || err != nil && *sent && writes(r)
		if n == tries || !twice(r) || r.Context().Err() != nil || err == nil && !passing(a) {
			return settled(a, err, lost)
		}
		after := pause
		if err == nil {
			if asked := retryAfter(a); asked > longestWait {
				return settled(a, nil, lost)
			} else if asked > after {
				after = asked
			}
			_ = a.Body.Close()
		}
		if err := d.wait(r.Context(), after); err != nil {
			return settled(nil, err, lost)
		}
		pause *= 2
	}
}

// Connecting notes in connected whether a request under ctx has had a connection to be
// sent on: without one nothing has reached the service.
func Connecting(parent context.Context) (ctx context.Context, connected *bool) {
	connected = new(bool)
	return httptrace.WithClientTrace(parent, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { *connected = true }}), connected
}

// settled returns the result of all tries. If the answer to an earlier try was lost, an unavailable service at the last try
// does not mean that the write did not happen.
func settled(a *http.Response, err error, lost bool) (*http.Response, error) {
	switch {
	case !lost || err == nil && !passing(a):
		return a, err
	case err == nil:
		_ = a.Body.Close()
		err = errors.New(a.Status)
	}
	return nil, &Lost{because: "no answer came: " + reason(err)}
}

// writes reports whether a request changes anything.
func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// twice reports whether a request may be sent again.
func twice(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get("Idempotency-Key") != ""
}

// passing reports whether the same request may soon be answered better.
func passing(a *http.Response) bool {
	switch a.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.Header.Get("X-Degraded") != ""
}

// retryAfter is what the answer asks for; services here write seconds.
func retryAfter(a *http.Response) time.Duration {
	n, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return time.Duration(n) * time.Second
}
