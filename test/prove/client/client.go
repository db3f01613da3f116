package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Client sends requests from many loopback addresses in turn.
type Client struct {
	lanes []*http.Client
	next  atomic.Uint64
}

// lanes of a Client: at 600 requests a minute and address, room for 4,000 a second.
const lanes = 400

// New makes a client whose addresses no other client is likely to use.
func New() *Client {
	c := &Client{}
	second, third := byte(16+rand.IntN(200)), byte(rand.IntN(200))
	for i := range lanes {
		c.lanes = append(c.lanes, lane(net.IPv4(127, second, third+byte(i/200), byte(1+i%200))))
	}
	return c
}

// NewAt makes a client with one address.
func NewAt(addr string) *Client { return &Client{lanes: []*http.Client{lane(net.ParseIP(addr))}} }

func lane(addr net.IP) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: addr}}).DialContext,
			// Below the server's own five seconds, and the two of a connection that
			// was opened and has not been used yet, so that no request meets one
			// that is just being closed.
			IdleConnTimeout: time.Second, MaxIdleConnsPerHost: 8, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close gives up the idle connections.
func (c *Client) Close() {
	for _, lane := range c.lanes {
		lane.CloseIdleConnections()
	}
}

// Request is one request. A Body that is neither nil nor []byte is sent as JSON.
type Request struct {
	Method  string // GET, or POST with a body, when empty
	URL     string
	Body    any
	As      Credential // nil: nobody
	Header  http.Header
	Timeout time.Duration // 15 s when zero
}

// Answer is what came of a request. Err is set when no answer came; then the
// effect of the request is in doubt.
type Answer struct {
	Status       int
	Header       http.Header
	Body         []byte
	Began, Ended time.Time
	Err          error
}

const (
	patience = 15 * time.Second
	maxBody  = 64 << 20
)

// Do sends a request from the next address.
func (c *Client) Do(ctx context.Context, r Request) Answer {
	lane := c.lanes[c.next.Add(1)%uint64(len(c.lanes))]
	if r.Timeout == 0 {
		r.Timeout = patience
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := r.build(ctx)
	if err != nil {
		return Answer{Err: err}
	}
	a := Answer{Began: time.Now()}
	resp, err := lane.Do(req)
	if err != nil {
		a.Err, a.Ended = err, time.Now()
		return a
	}
	a.Body, a.Err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	_ = resp.Body.Close()
	a.Status, a.Header, a.Ended = resp.StatusCode, resp.Header, time.Now()
	return a
}

func (r Request) build(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	switch b := r.Body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
		if body != nil {
			method = http.MethodPost
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.GetBody = nil // one request is one try: the library must not send it again
	}
	if r.As != nil {
		r.As.sign(req)
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	return req, nil
}

// Took is the time from the first byte out to the last byte in.
func (a Answer) Took() time.Duration { return a.Ended.Sub(a.Began) }

// Code is the error code of a refusal, empty when there is none.
func (a Answer) Code() string { return a.Text("error") }

// Text is a member of the answer that is text.
func (a Answer) Text(member string) string {
	var all map[string]json.RawMessage
	var text string
	if json.Unmarshal(a.Body, &all) == nil {
		_ = json.Unmarshal(all[member], &text) // another kind of value is no text
	}
	return text
}

// Into reads the body, and wants the status.
func (a Answer) Into(status int, v any) error {
	if a.Err != nil {
		return a.Err
	}
	if a.Status != status {
		return fmt.Errorf("answered %s, not %d", a, status)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(a.Body, v)
}

// String is the answer for people.
func (a Answer) String() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %.200s", a.Status, a.Body))
}
