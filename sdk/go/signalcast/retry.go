package signalcast

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

// Retry is a retry policy with exponential backoff. The client retries only requests that cannot have a second effect: reads,
// writes with an Idempotency-Key on routes that support it, and writes that the OpenAPI document marks as repeatable. It retries
// after a missing or incomplete response, after status 429, 502, 503 or 504, and after a degraded response.
type Retry struct {
	Tries   int           // attempts of one request in total; 0: 4, 1: no retry
	First   time.Duration // delay before the second attempt, doubled each time; 0: 250 ms
	Longest time.Duration // longest delay; the client gives up if the service requires a longer one; 0: 10 s
	Each    time.Duration // timeout of one attempt, not of streams; 0: 30 s
	// WaitForLimits waits after ErrRateLimited for as long as the service requires, up to two minutes, and sends the request again.
	// These waits do not count as attempts. They apply to all requests, because a request above a limit has no effect.
	WaitForLimits bool
}

// longestLimitWait is the longest wait for a rate limit. Limits of requests have a window of one minute.
const longestLimitWait = 2 * time.Minute

func (p Retry) settled() Retry {
	if p.Tries <= 0 {
		p.Tries = 4
	}
	if p.First <= 0 {
		p.First = 250 * time.Millisecond
	}
	if p.Longest <= 0 {
		p.Longest = 10 * time.Second
	}
	if p.Each <= 0 {
		p.Each = 30 * time.Second
	}
	return p
}

// passing reports whether a retry can return a better response: the status is 429, 502, 503 or 504, or the response is degraded.
func passing(a *http.Response) bool {
	switch a.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.StatusCode < 300 && a.Header.Get("X-Degraded") != ""
}

// pause returns a random delay before attempt n+1, so that many clients do not retry at the same time. retryAfter is the delay
// that the service requires, or 0. pause returns false if retryAfter is longer than p.Longest.
func (p Retry) pause(n int, retryAfter time.Duration) (time.Duration, bool) {
	if retryAfter > p.Longest {
		return 0, false
	}
	usual := p.First
	for i := 1; i < n && usual < p.Longest; i++ {
		usual *= 2
	}
	usual = min(usual, p.Longest)
	if retryAfter > 0 {
		return retryAfter + rand.N(min(usual, p.Longest-retryAfter)+1), true
	}
	return usual/2 + rand.N(usual/2+1), true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
