package ask

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
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
	longestWait = 5 * time.Second        // what asks for more is told to the caller
	perTry      = 15 * time.Second
)

// NewDoer gives one; wait may be nil, and is then real time.
func NewDoer(wait func(context.Context, time.Duration) error) *Doer {
	if wait == nil {
		wait = Sleep
	}
	return &Doer{wait: wait, client: http.Client{
		Timeout:       perTry,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements the client's HttpRequestDoer.
func (d *Doer) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	pause := firstWait
	for n := 1; ; n++ {
		if r.Body != nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		a, err := d.client.Do(r)
		if n == tries || !twice(r) || r.Context().Err() != nil || err == nil && !passing(a) {
			return a, err
		}
		after := pause
		if err == nil {
			if asked := retryAfter(a); asked > longestWait {
				return a, nil
			} else if asked > after {
				after = asked
			}
			_ = a.Body.Close()
		}
		if err := d.wait(r.Context(), after); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

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

// Sleep waits that long, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
