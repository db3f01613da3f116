package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	requestTimeout = 20 * time.Second
	maxAnswer      = 64 << 20
)

// JSON is a JSON object in the body of a request.
type JSON map[string]any

// Set changes a request before it is sent, for example a header or the body.
type Set func(*http.Request)

// Header returns a Set that sets a header.
func Header(name, value string) Set { return func(r *http.Request) { r.Header.Set(name, value) } }

// Bearer returns a Set that sends an operator key or a token as bearer credential (RFC 6750).
func Bearer(token string) Set { return Header("Authorization", "Bearer "+token) }

// Body returns a Set that sets the body of the request. A string is sent unchanged, any other value as JSON. If the request has
// no Content-Type yet, it becomes application/json.
func Body(v any) Set {
	return func(r *http.Request) {
		raw, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				panic(err) // a programming error of the test
			}
			raw = string(b)
		}
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(raw)), int64(len(raw))
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "application/json")
		}
	}
}

// Admin returns a Set that sends the admin secret of the system.
func (s *Stack) Admin() Set { return Header("x-admin-secret", s.AdminSecret) }

// Client sends requests from one loopback address, so that the rate limits per IP address apply to each client separately.
type Client struct{ http *http.Client }

var addresses atomic.Uint32

// NewClient returns a client that sends from its own address in 127.0.0.0/8. No other client of this test binary uses this
// address.
func NewClient() *Client {
	n := addresses.Add(1)
	addr := net.IPv4(127, byte(16+n>>16), byte(n>>8), byte(n))
	return &Client{&http.Client{
		Timeout: requestTimeout,
		Transport: observed{&http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: addr}}).DialContext,
			// Servers close an unused connection after two seconds. The client closes it earlier, so that it never
			// writes to a closed connection.
			IdleConnTimeout: time.Second, MaxIdleConnsPerHost: 16, DisableCompression: true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// HTTP returns the HTTP client, for websockets from the address of the client.
func (c *Client) HTTP() *http.Client { return c.http }

// plain sends the requests for which the IP address does not matter. It uses 32 addresses, so that tests that poll concurrently
// stay below the rate limits.
var plain = NewCrowd(32)

// Answer is an HTTP response with its whole body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	t    testing.TB
	what string
}

// Do sends a request once and returns the response. It fails the test if there is no complete response.
func (c *Client) Do(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	a, err := c.Try(t, method, url, sets...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return a
}

// Try sends a request once and returns an error if there is no complete response. It may be called from any goroutine, unlike Do.
func (c *Client) Try(t testing.TB, method, url string, sets ...Set) (Answer, error) {
	r, err := http.NewRequestWithContext(context.WithValue(t.Context(), testKey{}, t), method, url, nil)
	if err != nil {
		return Answer{}, err
	}
	for _, set := range sets {
		set(r)
	}
	if err := c.addFormToken(r); err != nil {
		return Answer{}, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, t: t, what: method + " " + url}, err
}

// Retry sends a request and repeats it up to five times while the response is 503 or degraded. Services shed requests on a loaded
// machine.
func (c *Client) Retry(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return retry(t, func() Answer { return c.Do(t, method, url, sets...) })
}

func retry(t testing.TB, send func() Answer) Answer {
	t.Helper()
	a := send()
	for n := 1; n < 6 && a.unavailable(); n++ {
		Wait(t, time.Duration(n)*500*time.Millisecond)
		a = send()
	}
	return a
}

// unavailable reports whether the status is 503, or whether the response is degraded because a source was slow or
// unavailable.
func (a Answer) unavailable() bool {
	source := a.Header.Get("X-Degraded")
	return a.Status == http.StatusServiceUnavailable || source == "db" || source == "timeout" || source == "signal_service"
}

// Send sends a request from one of the addresses of plain, and retries it like Client.Retry.
func Send(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return plain.Retry(t, method, url, sets...)
}

// Get sends a GET request once, from one of the addresses of plain.
func Get(t testing.TB, url string, sets ...Set) Answer {
	t.Helper()
	return plain.Do(t, http.MethodGet, url, sets...)
}

// Post sends a POST request once, from one of the addresses of plain.
func Post(t testing.TB, url string, sets ...Set) Answer {
	t.Helper()
	return plain.Do(t, http.MethodPost, url, sets...)
}

// String returns the status, the X-Degraded header and the first 160 characters of the body of the response.
func (a Answer) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %.160s", a.Status, a.Header.Get("X-Degraded"), a.Body))
}

// Require fails the test unless the response has this status. It returns the response.
func (a Answer) Require(status int) Answer {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("%s: %d, want %d\n%.2000s", a.what, a.Status, status, a.Body)
	}
	return a
}

// RequireError fails the test unless the response has this status and this error code. It returns the response.
func (a Answer) RequireError(status int, code string) Answer {
	a.t.Helper()
	if a.Status != status || a.Code() != code {
		a.t.Fatalf("%s: %d %s, want %d %s\n%.2000s", a.what, a.Status, a.Code(), status, code, a.Body)
	}
	return a
}

// Expect reports a test error for each member of the body whose value differs from want. The keys of want are paths such as
// "signals.0.id".
func (a Answer) Expect(want JSON) Answer {
	a.t.Helper()
	for path, w := range want {
		got, err := a.find(path)
		if err != nil {
			a.t.Errorf("%s: read %s from the answer: %v\n%.2000s", a.what, path, err, a.Body)
		} else if !EqualJSON(got, w) {
			a.t.Errorf("%s: %s is %v, want %v\n%.2000s", a.what, path, got, w, a.Body)
		}
	}
	return a
}

// Code returns the error code in the body, or an empty string if the body has none.
func (a Answer) Code() string {
	var body struct{ Error any }
	_ = json.Unmarshal(a.Body, &body) // a body of another form has no code
	code, _ := body.Error.(string)
	return code
}

// Decode decodes the JSON body into the value that into points to. It fails the test if that is not possible.
func (a Answer) Decode(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		a.t.Fatalf("%s: decode the answer: %v\n%.2000s", a.what, err, a.Body)
	}
}

// Value returns the JSON value at a path such as "signals.0.id". A number is a json.Number. Value fails the test if the body has
// no such value.
func (a Answer) Value(path string) any {
	a.t.Helper()
	v, err := a.find(path)
	if err != nil {
		a.t.Fatalf("%s: read %s from the answer: %v\n%.2000s", a.what, path, err, a.Body)
	}
	return v
}

// Text returns the string at a path. It fails the test if the value is not a string.
func (a Answer) Text(path string) string {
	a.t.Helper()
	s, ok := a.Value(path).(string)
	if !ok {
		a.t.Fatalf("%s: %s is not a string\n%.2000s", a.what, path, a.Body)
	}
	return s
}

// Member returns the string at a path such as "signals.0.id", or "" if there is no string.
func (a Answer) Member(path string) string {
	v, _ := a.find(path)
	s, _ := v.(string)
	return s
}

// Int returns the integer at a path. It fails the test if the value is not an integer.
func (a Answer) Int(path string) int {
	a.t.Helper()
	n, ok := a.Value(path).(json.Number)
	i, err := n.Int64()
	if !ok || err != nil {
		a.t.Fatalf("%s: %s is not an integer\n%.2000s", a.what, path, a.Body)
	}
	return int(i)
}

// List returns the array at a path. It fails the test if the value is not an array.
func (a Answer) List(path string) []any {
	a.t.Helper()
	l, ok := a.Value(path).([]any)
	if !ok {
		a.t.Fatalf("%s: %s is not an array\n%.2000s", a.what, path, a.Body)
	}
	return l
}

// Contains reports whether the body contains the bytes of text.
func (a Answer) Contains(text string) bool { return bytes.Contains(a.Body, []byte(text)) }

// ShowsText reports whether the body, an HTML page, contains the text. It decodes character references such as &amp; first.
func (a Answer) ShowsText(text string) bool {
	return strings.Contains(html.UnescapeString(string(a.Body)), text)
}

func (a Answer) find(path string) (any, error) {
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			member, ok := in[name]
			if !ok {
				return nil, fmt.Errorf("no member %s", name)
			}
			v = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, fmt.Errorf("no element %s", name)
			}
			v = in[i]
		default:
			return nil, fmt.Errorf("no member %s", name)
		}
	}
	return v, nil
}

// EqualJSON reports whether two values have the same JSON text. The numbers 1 and 1.0 differ.
func EqualJSON(got, want any) bool {
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Opened sends a GET request, closes the connection without reading the body, and returns the status. It is for streams that
// never end.
func Opened(t testing.TB, url string, set Set) int {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithValue(t.Context(), testKey{}, t), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	set(r)
	resp, err := NewClient().http.Do(r)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
