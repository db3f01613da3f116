package venue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/breaker"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Limits of requests to a venue, and of the circuit breaker of a host.
const (
	Timeout   = 10 * time.Second
	MaxBody   = 16 << 20
	tries     = 3
	firstWait = 200 * time.Millisecond
	maxWait   = 5 * time.Second
	maxPause  = time.Minute // longest pause after status 429, even if Retry-After is longer
	maxError  = 512         // bytes of an error response that are logged
	minWait   = time.Second // a request that its caller cancels earlier is not a failure of the host

	// After breakAfter failures in a row, no request is sent to the host for breakerPause. Then one request tests the host.
	breakAfter   = 5
	breakerPause = 1500 * time.Millisecond

	userAgent = "signalcast/1 (market reader)"
)

// Client sends HTTP requests to one host of a venue.
type Client struct {
	provider string
	base     *url.URL
	http     *http.Client
	limits   *limits
	breaker  *breaker.Breaker
	meter    *Meter
	now      func() time.Time
}

// NewClient returns a client for the host of the base URL. It checks the base URL but does not contact the host. perSecond
// is the request rate for the host; a burst may have twice as many requests. Each market.Purpose has a share of the rate and
// of the burst, and the burst of a purpose is at least 1.
func NewClient(provider protocol.Provider, base string, perSecond float64, meter *Meter, now func() time.Time) (*Client, error) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%s base URL %q must be an http or https URL without a user or a query", provider, base)
	}
	if perSecond <= 0 {
		return nil, fmt.Errorf("%s rate %v must be above 0", provider, perSecond)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 8
	transport.ResponseHeaderTimeout = Timeout
	return &Client{
		provider: string(provider), base: u, meter: meter, now: now,
		http: &http.Client{
			Transport: transport, Timeout: Timeout,
			// A redirect is not followed. No venue needs redirects, and a redirect could point to an internal address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		limits:  newLimits(perSecond, now),
		breaker: breaker.New(breaker.Config{Failures: breakAfter, Rest: breakerPause, Now: now}),
	}, nil
}

// Now returns the current time of the clock that was given to NewClient.
func (c *Client) Now() time.Time { return c.now() }

// UnknownWord counts a word in a field of a response, such as a status, that no rule of the adapter handles.
func (c *Client) UnknownWord(field, word string) { c.meter.UnknownWord(c.provider, field, word) }

// Dropped counts a record of the venue that the adapter omitted, with the reason as a metric label.
func (c *Client) Dropped(reason string) { c.meter.Dropped(c.provider, reason) }

// RefusedError is an error response in which the venue rejects the request itself: a JSON response with status 400, 404 or
// 422.
type RefusedError struct {
	Status int
	Text   string
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// Get sends a GET request and returns the JSON body. It makes up to three attempts before ctx ends, and waits for the rate
// limit of the market.Purpose in ctx. The error is *RefusedError if the venue rejected the request, and otherwise
// market.ErrUnavailable. That error wraps market.ErrBusy if this process has reached its request limit, or if the host
// responded with status 429.
func (c *Client) Get(ctx context.Context, op, path string, query url.Values) ([]byte, error) {
	answer, err := c.Read(ctx, op, path, query)
	return answer.Body, err
}

// Read is like Get, but also returns the time and the digest of the response, which quotes need.
func (c *Client) Read(ctx context.Context, op, path string, query url.Values) (Answer, error) {
	wait := firstWait
	var failed error
	for try := 1; ; try++ {
		answer, retry, err := c.attempt(ctx, op, http.MethodGet, path, query, nil)
		if failed != nil && errors.Is(err, market.ErrBusy) {
			return Answer{}, failed // the error of the host has precedence
		}
		failed = err
		if err == nil || try == tries || !retry.allowed || retry.limited && shares[market.PurposeOf(ctx)].wait > 0 {
			return answer, err
		}
		pause := max(retry.after, wait/2+rand.N(wait))
		wait *= 2
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(c.now()) <= pause {
			return Answer{}, err
		}
		if sleep(ctx, pause) != nil {
			return Answer{}, err
		}
	}
}

// Post sends JSON in one attempt and reads the JSON response. It returns the same errors as Get.
func (c *Client) Post(ctx context.Context, op, path string, body []byte) (Answer, error) {
	answer, _, err := c.attempt(ctx, op, http.MethodPost, path, nil, body)
	return answer, err
}

// repeat states whether a failed request may be repeated and after which delay.
type repeat struct {
	allowed bool
	limited bool // the host responded with status 429; the limits delay all requests by after
	after   time.Duration
}

func (c *Client) attempt(ctx context.Context, op, method, path string, query url.Values, body []byte) (Answer, repeat, error) {
	// While the circuit breaker is open, the request fails immediately and does not wait for the rate limit.
	if c.breaker.Refuses() {
		return Answer{}, repeat{}, c.breakerError(op)
	}
	if err := c.limits.wait(ctx); err != nil {
		c.meter.requests.WithLabelValues(c.provider, op, "busy").Inc()
		return Answer{}, repeat{}, err
	}
	if !c.breaker.Enter() {
		return Answer{}, repeat{}, c.breakerError(op)
	}
	start := c.now()
	answer, retry, err := c.sendRequest(ctx, method, path, query, body)
	result, seen := "ok", breaker.Success
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		result = strconv.Itoa(refused.Status)
	case retry.limited:
		result, seen = "limited", breaker.Neither
		c.limits.slow(retry.after)
		market.NoteQueued(ctx) // the host did not use this time
		retry.after, err = 0, market.Busy()
	case err != nil && ctx.Err() != nil && c.now().Sub(start) < minWait:
		result, seen = "left", breaker.Neither
	case err != nil:
		result, seen = "failed", breaker.Failure
	}
	c.breaker.Leave(seen)
	c.meter.request(c.provider, op, result, c.now().Sub(start))
	if err != nil && refused == nil && !retry.limited {
		err = market.ErrUnavailable.Wrap(fmt.Errorf("%s %s: %w", method, path, err))
	}
	return answer, retry, err
}

func (c *Client) breakerError(op string) error {
	c.meter.request(c.provider, op, "resting", 0)
	return market.ErrUnavailable.Wrap(fmt.Errorf(
		"requests to %s are suspended for a short time after repeated failures", c.base.Host))
}

func (c *Client) sendRequest(ctx context.Context, method, path string, query url.Values, body []byte) (Answer, repeat, error) {
	u := *c.base
	u.Path += path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return Answer{}, repeat{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, repeat{allowed: true}, err
	}
	received := c.now()
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Answer{}, c.retryAfter(resp), refusal(resp)
	}
	if !isJSON(resp) {
		return Answer{}, repeat{}, fmt.Errorf("content type %q is not JSON", resp.Header.Get("Content-Type"))
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil {
		return Answer{}, repeat{allowed: true}, fmt.Errorf("read response: %w", err)
	}
	if len(answer) > MaxBody {
		return Answer{}, repeat{}, fmt.Errorf("response larger than %d bytes", MaxBody)
	}
	return newAnswer(answer, resp.Header, received), repeat{}, nil
}

// refusal returns the error for a response with an error status. The error is *RefusedError only for a JSON response with status
// 400, 404 or 422. Content other than JSON comes from a proxy and has no information about the market.
func refusal(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return fmt.Errorf("status %d, unreadable: %w", resp.StatusCode, err)
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		if isJSON(resp) {
			return &RefusedError{Status: resp.StatusCode, Text: string(text)}
		}
	}
	return fmt.Errorf("status %d: %q", resp.StatusCode, text)
}

// retryAfter reports whether a request that got an error response may be repeated, and after which delay. It may be repeated
// if the status is 429, or 500 or greater. The delay is the value of the header Retry-After, which contains seconds or a
// date. It is at most maxPause for status 429 and at most maxWait for others. Without a valid header it is 0.
func (c *Client) retryAfter(resp *http.Response) repeat {
	limited := resp.StatusCode == http.StatusTooManyRequests
	if !limited && resp.StatusCode < http.StatusInternalServerError {
		return repeat{}
	}
	limit, after := maxWait, time.Duration(0)
	if limited {
		limit = maxPause
	}
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		after = time.Duration(min(seconds, int64(limit/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		after = at.Sub(c.now())
	}
	return repeat{allowed: true, limited: limited, after: min(max(after, 0), limit)}
}

func isJSON(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
