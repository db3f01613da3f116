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

// Bounds of one request.
const (
	Timeout   = 10 * time.Second
	MaxBody   = 16 << 20
	tries     = 3
	firstWait = 200 * time.Millisecond
	mostWait  = 5 * time.Second
	mostPause = time.Minute // that a host can ask for
	mostError = 512         // bytes of an error answer that are kept for the log
	patience  = time.Second // a caller that leaves sooner says nothing about the host

	// A host that failed this many times in a row gets no request for a while; then one request probes it.
	breakAfter = 5
	restFor    = 1500 * time.Millisecond

	userAgent = "signalcast/1 (market reader)"
)

// Client reads one host of a venue.
type Client struct {
	provider string
	base     *url.URL
	http     *http.Client
	turns    *turns
	breaker  *breaker.Breaker
	meter    *Meter
	now      func() time.Time
}

// NewClient checks the base URL; it does not contact the host. perSecond is the polite rate for
// the host, with twice as many at once; each market.Purpose has its part of both, and may have
// one request at once whatever its part.
func NewClient(provider protocol.Provider, base string, perSecond float64, meter *Meter, now func() time.Time) (*Client, error) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%s base URL %q is not an http or https address", provider, base)
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
			// A venue has no reason to send us elsewhere, and following it could
			// lead inside.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns:   newTurns(perSecond, now),
		breaker: breaker.New(breaker.Config{Failures: breakAfter, Rest: restFor, Now: now}),
	}, nil
}

// Now returns the time of the client's clock.
func (c *Client) Now() time.Time { return c.now() }

// UnknownWord counts a word of the venue that no rule knows.
func (c *Client) UnknownWord(field, word string) { c.meter.UnknownWord(c.provider, field, word) }

// Dropped counts a record of the venue that was left out.
func (c *Client) Dropped(reason string) { c.meter.Dropped(c.provider, reason) }

// RefusedError is an answer of the venue that refuses the request as such.
type RefusedError struct {
	Status int
	Text   string
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// Get reads JSON, trying up to three times within the caller's context, in the
// turn of its market.Purpose. Errors: *RefusedError when the venue answered in
// its own form with 400, 404 or 422, else market.ErrUnavailable; market.ErrBusy within it
// when the request limit of this process is used up, or when the host answered 429,
// which means that this limit is too high and nothing about the market.
func (c *Client) Get(ctx context.Context, op, path string, query url.Values) ([]byte, error) {
	answer, err := c.Read(ctx, op, path, query)
	return answer.Body, err
}

// Read is Get with the time of the answer and its digest, for answers that hold quotes.
func (c *Client) Read(ctx context.Context, op, path string, query url.Values) (Answer, error) {
	wait := firstWait
	var failed error
	for try := 1; ; try++ {
		answer, retry, err := c.once(ctx, op, http.MethodGet, path, query, nil)
		if failed != nil && errors.Is(err, market.ErrBusy) {
			return Answer{}, failed // the host did fail
		}
		failed = err
		if err == nil || try == tries || !retry.allowed || retry.limited && parts[market.PurposeOf(ctx)].wait > 0 {
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

// Post sends JSON and reads JSON, once. Errors as those of Get.
func (c *Client) Post(ctx context.Context, op, path string, body []byte) (Answer, error) {
	answer, _, err := c.once(ctx, op, http.MethodPost, path, nil, body)
	return answer, err
}

// again says whether and when a failed request may be repeated.
type again struct {
	allowed bool
	limited bool // the host was asked too often; the turns wait for after
	after   time.Duration
}

func (c *Client) once(ctx context.Context, op, method, path string, query url.Values, body []byte) (Answer, again, error) {
	// While the breaker refuses, the call fails at once, without waiting for the rate limit.
	if c.breaker.Refuses() {
		return Answer{}, again{}, c.resting(op)
	}
	if err := c.turns.wait(ctx); err != nil {
		c.meter.requests.WithLabelValues(c.provider, op, "busy").Inc()
		return Answer{}, again{}, err
	}
	if !c.breaker.Enter() {
		return Answer{}, again{}, c.resting(op)
	}
	start := c.now()
	answer, retry, err := c.exchange(ctx, method, path, query, body)
	result, seen := "ok", breaker.Success
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		result = strconv.Itoa(refused.Status)
	case retry.limited:
		result, seen = "limited", breaker.Neither
		c.turns.slow(retry.after)
		market.NoteQueued(ctx) // the time was not spent by the host
		retry.after, err = 0, market.Busy()
	case err != nil && ctx.Err() != nil && c.now().Sub(start) < patience:
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

func (c *Client) resting(op string) error {
	c.meter.request(c.provider, op, "resting", 0)
	return market.ErrUnavailable.Wrap(fmt.Errorf("%s rests after failures", c.base.Host))
}

func (c *Client) exchange(ctx context.Context, method, path string, query url.Values, body []byte) (Answer, again, error) {
	u := *c.base
	u.Path += path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return Answer{}, again{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, again{allowed: true}, err
	}
	received := c.now()
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Answer{}, c.retryAfter(resp), refusal(resp)
	}
	if !isJSON(resp) {
		return Answer{}, again{}, fmt.Errorf("content type %q", resp.Header.Get("Content-Type"))
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil {
		return Answer{}, again{allowed: true}, fmt.Errorf("read answer: %w", err)
	}
	if len(answer) > MaxBody {
		return Answer{}, again{}, fmt.Errorf("answer larger than %d bytes", MaxBody)
	}
	return newAnswer(answer, resp.Header, received), again{}, nil
}

// refusal reads an error answer. Only JSON is the venue's own word; a page of
// something in between says nothing about the market.
func refusal(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostError))
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

// retryAfter reads what an error answer says of another try; the header is in
// seconds or a date.
func (c *Client) retryAfter(resp *http.Response) again {
	limited := resp.StatusCode == http.StatusTooManyRequests
	if !limited && resp.StatusCode < http.StatusInternalServerError {
		return again{}
	}
	most, after := mostWait, time.Duration(0)
	if limited {
		most = mostPause
	}
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		after = time.Duration(min(seconds, int64(most/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		after = at.Sub(c.now())
	}
	return again{allowed: true, limited: limited, after: min(max(after, 0), most)}
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
