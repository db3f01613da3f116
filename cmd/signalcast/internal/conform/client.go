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

// Bounds of a run.
const (
	maxBody     = 4 << 20     // bytes of an answer that are read
	maxHeader   = 64 << 10    // and of its head
	maxRequests = 600         // of a run
	maxKeyed    = 50          // of those with the key, in any minute: a key has sixty
	maxWait     = time.Minute // for a service that is unavailable
	tries       = 4           // of a request while the service is unavailable
	silentAfter = 2           // answers in a row that did not come whole: the host is not asked again
)

// host is one of the three services.
type host string

const (
	hub   host = "hub"
	api   host = "api"
	clock host = "clock"
)

// Target is the server to check, with the secrets to use.
type Target struct {
	Hub, API, Clock string // addresses without a slash at the end; API and Clock may be empty
	Key, Admin      string // secrets; empty: only reading
	Market          string // where the key may file a call; empty: on a market that Admin makes
	Venue           string // the primary venue's name in paths
}

func (t *Target) at(h host) string {
	return map[host]string{hub: t.Hub, api: t.API, clock: t.Clock}[h]
}

// client sends what the checks ask.
type client struct {
	Target
	patience
	http   http.Client
	wait   func(context.Context, time.Duration) error
	now    func() time.Time
	sent   int
	keyed  []time.Time  // when the key was used in the last minute
	silent map[host]int // answers in a row that did not come
	memo   map[string]*answer
}

func newClient(t Target, each time.Duration, p patience, wait func(context.Context, time.Duration) error) *client {
	p.rest = map[budget]resting{}
	return &client{
		Target: t, patience: p, wait: wait, now: time.Now, silent: map[host]int{}, memo: map[string]*answer{},
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

// request is one question.
type request struct {
	method string
	host   host
	path   string
	body   string // JSON, or whatever a check wants
	header http.Header
	key    bool // with the key
	admin  bool // with the admin secret
}

func (q request) with(name, value string) request {
	if q.header = q.header.Clone(); q.header == nil {
		q.header = http.Header{}
	}
	q.header.Set(name, value)
	return q
}

// reachable returns the requests to services that have an address.
func (t *Target) reachable(asks ...request) []request {
	return slices.DeleteFunc(asks, func(q request) bool { return t.at(q.host) == "" })
}

// answer is the answer to a request. Without one, status is 0 and err says why.
type answer struct {
	method, path string
	status       int
	header       http.Header
	body         []byte
	err          error
	unreached    bool // err, before there was a connection to send anything on
	value        any  // the body, where it is JSON
}

var (
	errBudget = errors.New("the run has sent all the requests that it may")
	errSilent = errors.New("the host did not answer before, so it was not asked")
	errLong   = fmt.Errorf("the body has more than %d bytes", maxBody)
)

// get reads a path without a credential. A run reads each path once; an answer that is missing because of a limit is
// requested again.
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

// reread reads a path again.
func (c *client) reread(ctx context.Context, h host, path string) *answer {
	delete(c.memo, string(h)+path)
	return c.get(ctx, h, path)
}

// send sends a request, again while the service is unavailable or a limit is reached. An answer that is missing because of
// a limit is noted for the current check.
func (c *client) send(ctx context.Context, q request) *answer {
	for n := 1; ; n++ {
		a := c.once(ctx, q)
		if n < tries && c.again(ctx, a) {
			continue
		}
		if a.limited() {
			c.miss(a)
		}
		return a
	}
}

// again reports whether the same request may get a better answer, and waits until then. The wait for a limit is in once.
func (c *client) again(ctx context.Context, a *answer) bool {
	switch {
	case a.err != nil:
		return false
	case a.status == http.StatusTooManyRequests:
		return a.retryAfter() <= c.left
	case a.status == http.StatusBadGateway, a.status == http.StatusServiceUnavailable, a.status == http.StatusGatewayTimeout, a.header.Get("X-Degraded") != "":
		pause := a.retryAfter()
		return pause <= maxWait && c.wait(ctx, pause) == nil
	}
	return false
}

// once sends a request one time, as soon as the limits allow it.
func (c *client) once(ctx context.Context, q request) *answer {
	a := &answer{method: q.method, path: q.path}
	switch {
	case c.sent >= maxRequests:
		a.err = errBudget
		return a
	case c.silent[q.host] >= silentAfter:
		a.err = errSilent
		return a
	}
	if a.err = c.pace(ctx, q); a.err != nil {
		return a
	}
	return c.ask(ctx, q)
}

// ask sends a request without regard to limits.
func (c *client) ask(ctx context.Context, q request) *answer {
	a := &answer{method: q.method, path: q.path}
	if q.key {
		c.keyed = append(c.keyed, c.now())
	}
	c.sent++
	if a.err = c.fill(ctx, q, a); a.err != nil {
		if u := (*url.Error)(nil); errors.As(a.err, &u) {
			a.err = u.Err // the address may be long, and the reader knows it
		}
		c.silent[q.host]++
		if a.unreached {
			c.miss(a)
		}
		return a
	}
	c.silent[q.host] = 0
	c.learn(q, a)
	return a
}

func (c *client) fill(ctx context.Context, q request, a *answer) error {
	ctx, connected := ask.Connecting(ctx)
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
		return fmt.Errorf("the body was cut: %w", err)
	}
	if len(a.body) > maxBody {
		a.body = nil
		return errLong
	}
	a.value = decode(a.body)
	return nil
}

// asked names the request in a report.
func (a *answer) asked() string { return a.method + " " + a.path }

// came describes the answer in a few words.
func (a *answer) came() string {
	switch {
	case a.err != nil && a.status == 0:
		return "no answer: " + a.err.Error()
	case a.err != nil:
		return fmt.Sprintf("%d, and %v", a.status, a.err)
	case text(a.value, "error") != "":
		return fmt.Sprintf("%d %s", a.status, text(a.value, "error"))
	case a.value == nil && len(bytes.TrimSpace(a.body)) > 0:
		return fmt.Sprintf("%d with %s that is no JSON", a.status, strconv.Quote(cut(string(a.body), 60)))
	}
	return strconv.Itoa(a.status)
}
