package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Doer sends requests and repeats a request if that is safe: GET, or a write with an Idempotency-Key. It follows no redirect: a
// redirect could send a key to another host.
type Doer struct {
	Options
	client http.Client
}

// Options contains the settings of a Doer.
type Options struct {
	Wait     func(context.Context, time.Duration) error // pauses between two attempts; nil means dbtime.Sleep
	Timeout  time.Duration                              // time limit of a request with its repetitions; 0 means DefaultTimeout
	Progress func(text string)                          // receives a text before each repetition; nil means no text
}

// DefaultTimeout is the time limit of a request with its repetitions.
const DefaultTimeout = 30 * time.Second

const (
	tries       = 4                      // attempts of one request, the first included
	firstWait   = 250 * time.Millisecond // wait before the second attempt; each further wait is twice as long
	longestWait = 5 * time.Second        // an answer with a longer Retry-After is returned at once
)

// NewDoer returns a Doer.
func NewDoer(o Options) *Doer {
	if o.Wait == nil {
		o.Wait = dbtime.Sleep
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return &Doer{Options: o, client: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements client.HttpRequestDoer. It returns an UnknownResult if the response to a write was lost and the last attempt
// failed or found the service unavailable or degraded. Otherwise it returns the response or the transport error of the last
// attempt. One attempt of a request that can be repeated has at most half of the time limit, so that a second one follows if the
// service does not answer.
func (d *Doer) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	ctx, sent := TraceConnection(r.Context())
	r = r.WithContext(ctx)
	lost := false // an attempt was sent and its answer did not arrive
	pause, end, each := firstWait, time.Now().Add(d.Timeout), d.Timeout
	if repeatable(r) {
		each /= 2
	}
	for n := 1; ; n++ {
		if r.Body != nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		*sent = false
		c := d.client
		c.Timeout = max(min(each, time.Until(end)), time.Millisecond)
		a, err := c.Do(r)
		err = nameTimeout(err, c.Timeout)
		lost = lost || err != nil && *sent && writes(r)
		after := pause
		if err == nil {
			after = max(after, retryAfter(a))
		} else if errors.As(err, new(NoAnswer)) {
			after = 0 // the attempt waited long enough
		}
		if n == tries || !repeatable(r) || r.Context().Err() != nil || err == nil && (!temporary(a) || after > longestWait) ||
			time.Until(end)-after < each/10 {
			return finalResult(a, err, lost)
		}
		because := ""
		if err == nil {
			because = a.Status
			_ = a.Body.Close()
		} else {
			because = Reason(err)
		}
		d.Progress(fmt.Sprintf("%s: %s; trying again (%d of %d)", r.URL.Host, because, n+1, tries))
		if err := d.Wait(r.Context(), after); err != nil {
			return finalResult(nil, err, lost)
		}
		pause *= 2
	}
}

// NoAnswer is the error of a request that a service did not answer within a time limit.
type NoAnswer struct{ Limit time.Duration }

// Error implements error.
func (n NoAnswer) Error() string {
	return "no answer within " + n.Limit.Round(100*time.Millisecond).String()
}

// nameTimeout returns err with a NoAnswer as the reason if err is a *url.Error of a timeout.
func nameTimeout(err error, limit time.Duration) error {
	if u := (*url.Error)(nil); errors.As(err, &u) && u.Timeout() {
		u.Err = NoAnswer{limit}
	}
	return err
}

// TraceConnection returns a context and a variable that becomes true when a request with this context obtains a connection.
// While it is false, the service has received no part of the request.
func TraceConnection(parent context.Context) (ctx context.Context, connected *bool) {
	connected = new(bool)
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { *connected = true }}
	return httptrace.WithClientTrace(parent, trace), connected
}

// finalResult returns the result of all attempts of a request. The parameter lost reports whether the response to an attempt
// of a write was lost. In this case the service may have stored the write, so the result is an UnknownResult if the last
// attempt failed or its response is temporary.
func finalResult(a *http.Response, err error, lost bool) (*http.Response, error) {
	switch {
	case !lost || err == nil && !temporary(a):
		return a, err
	case err == nil:
		_ = a.Body.Close()
		err = errors.New(a.Status)
	}
	return nil, &UnknownResult{because: "no response: " + Reason(err)}
}

// writes reports whether a request is a write: its method is neither GET nor HEAD.
func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// repeatable reports whether a request may be sent twice: it is a GET request or has an Idempotency-Key.
func repeatable(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get("Idempotency-Key") != ""
}

// temporary reports whether repeating the request may produce a better response, because the service is unavailable or the
// response is degraded.
func temporary(a *http.Response) bool {
	switch a.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.Header.Get("X-Degraded") != ""
}

// retryAfter returns the value of the header Retry-After, which must be a number of seconds. It returns 0 if the header is
// missing or invalid.
func retryAfter(a *http.Response) time.Duration {
	n, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return time.Duration(n) * time.Second
}
