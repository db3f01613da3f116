package signalcast

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

// Retry says how often and after what pauses a request is sent again. Only what cannot do
// anything twice is: reading, writes with an Idempotency-Key on the routes that honour one,
// and writes of which the document says that a second one changes nothing. It is sent again
// when no complete answer came, after 429, 502, 503 and 504, and after an incomplete list.
type Retry struct {
	Tries   int           // of one request in all; 0: four, 1: it is never sent again
	First   time.Duration // pause before the second try, doubled each time; 0: 250 ms
	Longest time.Duration // pause; a service that asks for more is obeyed by giving up; 0: ten seconds
	Each    time.Duration // how long one try may last, but for streams; 0: thirty seconds
}

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

// passing reports whether the same request may soon be answered better.
func passing(a *http.Response) bool {
	switch a.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.StatusCode < 300 && a.Header.Get("X-Degraded") != ""
}

// pause is how long to wait before try n+1, by chance, so that many clients do not come at
// once. It is false when the service asks for more than is waited.
func (p Retry) pause(n int, wants time.Duration) (time.Duration, bool) {
	if wants > p.Longest {
		return 0, false
	}
	usual := p.First
	for i := 1; i < n && usual < p.Longest; i++ {
		usual *= 2
	}
	usual = min(usual, p.Longest)
	if wants > 0 {
		return wants + rand.N(min(usual, p.Longest-wants)+1), true
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
