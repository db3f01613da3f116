package signalcast

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// maxAnswer is the maximum size of a JSON response, in bytes.
const maxAnswer = 16 << 20

// errTooLarge is the error of a response that is larger than maxAnswer. The protocol has no response of this size.
var errTooLarge = fmt.Errorf("the response has more than %d bytes", maxAnswer)

// sender sends the requests of the generated client to one service. It adds the credential, retries requests that may be
// repeated, and limits the size of responses.
type sender struct {
	*Client
	name  string // field of the service in Options
	there bool   // Options has a URL of the service
	under string // path of that URL
}

// Do implements client.HttpRequestDoer. It returns the response of the last attempt.
func (s *sender) Do(r *http.Request) (*http.Response, error) {
	if !s.there {
		return nil, fmt.Errorf("signalcast: Options.%s is empty; set it to the URL of the service", s.name)
	}
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json")
	}
	r.Header.Set("User-Agent", s.options.UserAgent)
	if err := requireIDs(r, s.under); err != nil {
		return nil, err
	}
	rt := s.atlas.find(r, s.under)
	own, renewed := r.Header.Get("Authorization") != "", false
	for n := 1; ; n++ {
		token := ""
		if !own {
			if token, err = s.sign(r, rt); err != nil {
				return nil, err
			}
		}
		a, err := s.once(r, rt, body)
		if renew, ok := s.options.Token.(renewer); ok && !renewed && token != "" && err == nil && a.StatusCode == http.StatusUnauthorized {
			renewed = true // the service checks the credential before it does anything
			renew.Refused(token)
			n--
			continue
		}
		if wait := s.limitWait(rt, a, err); wait > 0 {
			if sleep(r.Context(), wait+rand.N(250*time.Millisecond)) != nil { // other clients of the credential also wait
				return a, nil
			}
			n--
			continue
		}
		if err != nil || a.StatusCode >= http.StatusInternalServerError {
			accountOf(r.Context()).lost = true
		}
		after, again := s.again(r, rt, n, a, err)
		if !again {
			return a, err
		}
		if sleep(r.Context(), after) != nil {
			return a, err // the last response says more than the timeout
		}
	}
}

// limitWait returns the time to wait for a rate limit before the request is sent again, or 0.
func (s *sender) limitWait(rt *route, a *http.Response, err error) time.Duration {
	if !s.options.Retry.WaitForLimits || err != nil || a.StatusCode != http.StatusTooManyRequests || rt.stream {
		return 0
	}
	if wait := refusal("", a, peek(a)).RetryAfter; wait <= longestLimitWait {
		return wait
	}
	return 0
}

// observe stores the limits in the headers of a response. It reports them and the ignored parameters.
func (s *sender) observe(rt *route, h http.Header) {
	s.observeLimits(s.name, h)
	if ignored := h.Get("X-Ignored"); ignored != "" && s.options.OnIgnored != nil {
		s.options.OnIgnored(rt.pattern, strings.FieldsFunc(ignored, func(c rune) bool { return c == ',' || c == ' ' }))
	}
}

// again returns the delay before the next attempt. n is the number of attempts so far. a and err are the result of the last one.
// again returns false if the request must not be repeated.
func (s *sender) again(r *http.Request, rt *route, n int, a *http.Response, err error) (time.Duration, bool) {
	if n >= s.options.Retry.Tries || !rt.twice(r) || r.Context().Err() != nil || errors.Is(err, errTooLarge) || err == nil && !passing(a) {
		return 0, false
	}
	var retryAfter time.Duration
	if err == nil && !rt.stream {
		retryAfter = refusal("", a, peek(a)).RetryAfter
	}
	return s.options.Retry.pause(n, retryAfter)
}

// once sends a request and, unless it is a stream, reads the whole response. A missing or incomplete response is an error.
func (s *sender) once(r *http.Request, rt *route, body []byte) (*http.Response, error) {
	if body != nil {
		// Without GetBody the transport does not retry requests with an Idempotency-Key by itself. The client must notice
		// every lost response.
		r.Body, r.GetBody = io.NopCloser(bytes.NewReader(body)), nil
	}
	if rt.stream {
		a, err := s.http.Do(r)
		if err == nil {
			s.observe(rt, a.Header)
		}
		return a, unanswered(rt, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.options.Retry.Each)
	defer cancel()
	a, err := s.http.Do(r.WithContext(ctx))
	if err != nil {
		return nil, unanswered(rt, err)
	}
	s.observe(rt, a.Header)
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer+1))
	_ = a.Body.Close()
	if err == nil && len(raw) > maxAnswer {
		err = errTooLarge
	}
	if err != nil {
		return nil, unanswered(rt, err)
	}
	a.Body = io.NopCloser(bytes.NewReader(raw))
	return a, nil
}

func unanswered(rt *route, err error) error {
	if err == nil {
		return nil
	}
	return &Unanswered{Operation: rt.pattern, Err: err}
}

// sign adds the credential that the route accepts. Session cookies have priority over a token. sign returns the token, or "" if
// it has added cookies or nothing.
func (s *sender) sign(r *http.Request, rt *route) (string, error) {
	sends := rt.bearer || s.options.TokenOnReads && r.Method == http.MethodGet
	if rt.session && s.signed(r) || !sends || s.options.Token == nil {
		return "", nil
	}
	token, err := s.options.Token.Token(r.Context())
	if err != nil {
		return "", fmt.Errorf("signalcast: %s: get the credential: %w", rt.pattern, err)
	}
	if token == "" || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("signalcast: %s: the credential must be 1 or more printable ASCII characters without spaces", rt.pattern)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return token, nil
}

// bodyOf reads and returns the body of a request, or nil if it has none.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	return io.ReadAll(r.Body)
}

// peek returns the body of a response. The body can still be read afterwards. If it cannot be read, peek returns nil.
func peek(a *http.Response) []byte {
	raw, err := io.ReadAll(a.Body)
	if err != nil {
		return nil // a stream
	}
	a.Body = io.NopCloser(bytes.NewReader(raw))
	return raw
}

// account records for one request whether the service may have executed an attempt that returned no usable response.
type account struct{ lost bool } // an attempt ended without a response, or with status 500 or higher

type accountKey struct{}

func withAccount(ctx context.Context) (context.Context, *account) {
	a := &account{}
	return context.WithValue(ctx, accountKey{}, a), a
}

func accountOf(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// read decodes the JSON body of a response. For a degraded response, it returns the incomplete value and a Degraded error. Other
// errors: *Error for an error status, *Unanswered, or an error for invalid JSON.
func read[T any](a *http.Response, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	defer func() { _ = a.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	operation := operationOf(a)
	if err != nil {
		return v, &Unanswered{Operation: operation, Err: err}
	}
	if a.StatusCode < 200 || a.StatusCode >= 300 {
		return v, refusal(operation, a, raw)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("signalcast: %s: the response does not match the protocol: %w", operation, err)
	}
	if part := a.Header.Get("X-Degraded"); part != "" {
		return v, &Degraded{Part: part, Operation: operation}
	}
	return v, nil
}

func operationOf(a *http.Response) string {
	if a.Request == nil || a.Request.URL == nil {
		return "request"
	}
	return a.Request.Method + " " + a.Request.URL.Path
}
