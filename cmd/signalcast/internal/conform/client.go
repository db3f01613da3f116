package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
)

// Limits of one execution of the checks.
const (
	maxBody     = 4 << 20     // bytes of a body that are read
	maxHeader   = 64 << 10    // bytes of the headers of an answer
	maxRequests = 600         // requests of a run
	maxKeyed    = 50          // requests with the key in any minute; the limit of a key is 60
	maxWait     = time.Minute // longest wait before a request to an unavailable service is repeated
	tries       = 4           // attempts of a request while the service is unavailable
	silentAfter = 2           // consecutive incomplete answers after which no more requests are sent to the host
)

// host names one of the three services: hub, api or clock.
type host string

const (
	hub   host = "hub"
	api   host = "api"
	clock host = "clock"
)

// Target contains the addresses of the server to check and the secrets for the checks.
type Target struct {
	Hub, API, Clock string // addresses without a slash at the end; API and Clock may be empty
	Key, Admin      string // operator key and admin secret; both may be empty
	Market          string // id of the market for the call; empty means a market that is created with Admin
	Venue           string // name of the primary venue in paths
}

// at returns the address of a service, or "" if it has none.
func (t *Target) at(h host) string {
	return map[host]string{hub: t.Hub, api: t.API, clock: t.Clock}[h]
}

// client sends the requests of the checks and enforces the limits of the run.
type client struct {
	Target
	limiter
	http   http.Client
	wait   func(context.Context, time.Duration) error
	now    func() time.Time
	sent   int                // number of requests
	keyed  []time.Time        // times of the requests with the key in the last minute
	silent map[host]int       // number of consecutive incomplete answers of a host
	memo   map[string]*answer // answers to reads by host and path
}

// newClient returns a client. The parameter each is the timeout of one response.
func newClient(t Target, each time.Duration, l limiter, wait func(context.Context, time.Duration) error) *client {
	l.blocks = map[limitKey]block{}
	return &client{
		Target: t, limiter: l, wait: wait, now: time.Now, silent: map[host]int{}, memo: map[string]*answer{},
		http: http.Client{
			Timeout:       each,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				MaxResponseHeaderBytes: maxHeader, DisableCompression: true, Proxy: http.ProxyFromEnvironment,
				TLSHandshakeTimeout: each, ResponseHeaderTimeout: each,
			},
		},
	}
}

// request is one HTTP request of a check.
type request struct {
	method string
	host   host
	path   string
	body   string // JSON by default; a check may send anything
	header http.Header
	key    bool // send the operator key
	admin  bool // send the admin secret
}

// with returns a copy of the request and sets the given header in the copy.
func (q request) with(name, value string) request {
	if q.header = q.header.Clone(); q.header == nil {
		q.header = http.Header{}
	}
	q.header.Set(name, value)
	return q
}

// reachable returns the requests whose service has a configured address.
func (t *Target) reachable(requests ...request) []request {
	return slices.DeleteFunc(requests, func(q request) bool { return t.at(q.host) == "" })
}

// answer is the response to a request. If there was no response, status is 0 and err is the reason.
type answer struct {
	method, path string
	status       int
	header       http.Header
	body         []byte
	err          error
	unreached    bool // err occurred before there was a connection
	value        any  // decoded body; nil if it is not JSON
}

var (
	errBudget = fmt.Errorf("limit of %d requests in one run reached", maxRequests)
	errSilent = errors.New("request not sent: earlier requests to the host were not answered")
	errLong   = fmt.Errorf("the response has more than %d bytes", maxBody)
)

// get sends a GET request without a credential. It stores the response for the whole run, unless the response is missing because
// of a limit. Later calls return the stored response.
func (c *client) get(ctx context.Context, h host, path string) *answer {
	name := string(h) + path
	if a := c.memo[name]; a != nil {
		return a
	}
	a := c.send(ctx, request{method: http.MethodGet, host: h, path: path})
	if !a.limited() {
		c.memo[name] = a
	}
	return a
}

// reread sends a GET request even if a response to it is stored. The new response replaces the stored one.
func (c *client) reread(ctx context.Context, h host, path string) *answer {
	delete(c.memo, string(h)+path)
	return c.get(ctx, h, path)
}

// send sends a request. If the service is unavailable or degraded, or a rate limit is reached, it repeats the request. The
// constant tries limits the number of attempts. If the response is missing because of a limit, send records this for the
// current check.
func (c *client) send(ctx context.Context, q request) *answer {
	for n := 1; ; n++ {
		a := c.sendOnce(ctx, q)
		if n < tries && c.retry(ctx, a) {
			continue
		}
		if a.limited() {
			c.noteMissing(a)
		}
		return a
	}
}

// retry reports whether send should repeat the request. If the service is unavailable or degraded, it waits before it returns
// true. It does not wait for rate limits, because sendOnce does.
func (c *client) retry(ctx context.Context, a *answer) bool {
	switch {
	case a.err != nil:
		return false
	case a.status == http.StatusTooManyRequests:
		return a.retryAfter() <= c.left
	case a.status == http.StatusBadGateway, a.status == http.StatusServiceUnavailable, a.status == http.StatusGatewayTimeout,
		a.header.Get("X-Degraded") != "":
		pause := a.retryAfter()
		return pause <= maxWait && c.wait(ctx, pause) == nil
	}
	return false
}

// sendOnce waits for the rate limits and sends a request once. It sends nothing if the run has used up its requests, or if the
// last silentAfter requests to the host failed.
func (c *client) sendOnce(ctx context.Context, q request) *answer {
	a := &answer{method: q.method, path: q.path}
	switch {
	case c.sent >= maxRequests:
		a.err = errBudget
		return a
	case c.silent[q.host] >= silentAfter:
		a.err = errSilent
		return a
	}
	if a.err = c.waitForLimit(ctx, q); a.err != nil {
		return a
	}
	return c.sendNow(ctx, q)
}

// sendNow sends a request once, without waiting for rate limits.
func (c *client) sendNow(ctx context.Context, q request) *answer {
	a := &answer{method: q.method, path: q.path}
	if q.key {
		c.keyed = append(c.keyed, c.now())
	}
	c.sent++
	if a.err = c.fill(ctx, q, a); a.err != nil {
		if u := (*url.Error)(nil); errors.As(a.err, &u) {
			a.err = u.Err // without the address, which the report already has
		}
		c.silent[q.host]++
		if a.unreached {
			c.noteMissing(a)
		}
		return a
	}
	c.silent[q.host] = 0
	c.observe(q, a)
	return a
}

// fill sends a request and sets the fields of the answer a from the response.
func (c *client) fill(ctx context.Context, q request, a *answer) error {
	ctx, connected := ask.TraceConnection(ctx)
	r, err := http.NewRequestWithContext(ctx, q.method, c.at(q.host)+q.path, nil)
	if err != nil {
		return err
	}
	if q.header != nil {
		r.Header = q.header.Clone()
	}
	r.Header.Set("User-Agent", "signalcast-conform")
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json")
	}
	if q.key {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if q.admin {
		r.Header.Set("x-admin-secret", c.Admin)
	}
	if q.body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(q.body)), int64(len(q.body))
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	res, err := c.http.Do(r)
	if err != nil {
		a.unreached = !*connected
		return err
	}
	defer func() { _ = res.Body.Close() }()
	a.status, a.header = res.StatusCode, res.Header
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1)); err != nil {
		return fmt.Errorf("the response ended early: %w", err)
	}
	if len(a.body) > maxBody {
		a.body = nil
		return errLong
	}
	a.value = decode(a.body)
	return nil
}

// name returns the method and the path of the request, for the report.
func (a *answer) name() string { return a.method + " " + a.path }

// summary describes the response in a few words: its status and error code, or the error.
func (a *answer) summary() string {
	switch {
	case a.err != nil && a.status == 0:
		return "no answer: " + a.err.Error()
	case a.err != nil:
		return fmt.Sprintf("%d, and %v", a.status, a.err)
	case text(a.value, "error") != "":
		return fmt.Sprintf("%d %s", a.status, text(a.value, "error"))
	case a.value == nil && len(bytes.TrimSpace(a.body)) > 0:
		return fmt.Sprintf("%d with %s, which is not JSON", a.status, strconv.Quote(shorten(string(a.body), 60)))
	}
	return strconv.Itoa(a.status)
}
