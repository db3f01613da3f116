package venue

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// exhaust uses up all tokens in the rate limit of a client and fills the queue of every purpose.
func exhaust(c *Client) {
	for p := range c.limits.lanes {
		l := &c.limits.lanes[p]
		for l.bucket.Allow() {
		}
		l.bucket.SetLimit(1e-9)
		for range maxWaiting {
			l.queue = append(l.queue, make(chan struct{}))
		}
	}
}

// TestRateLimitIsNoFailureOfTheHost checks that a request that the rate limit of this process rejects is not counted as a
// failure of the host.
func TestRateLimitIsNoFailureOfTheHost(t *testing.T) {
	t.Parallel()
	c, hits := serve(t, reply(200, "application/json", "{}"))
	exhaust(c)
	for range 3 * breakAfter {
		if _, err := c.Get(t.Context(), "x", "/thing", nil); !errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) {
			t.Fatalf("request with an exhausted rate limit: %v", err)
		}
	}
	if hits.Load() != 0 || c.breaker.Refuses() {
		t.Errorf("the host got %d requests; breaker open: %v", hits.Load(), c.breaker.Refuses())
	}
}

func TestAHostThatFailedIsNotBusy(t *testing.T) {
	t.Parallel()
	var once atomic.Bool
	var c *Client
	c, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if once.CompareAndSwap(false, true) {
			c.limits.mu.Lock()
			exhaust(c)
			c.limits.mu.Unlock()
		}
		reply(503, "text/html", "unavailable")(w, r)
	})
	if _, err := c.Get(t.Context(), "x", "/thing", nil); errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) || hits.Load() != 1 {
		t.Errorf("%v after %d", err, hits.Load())
	}
}

// TestOpenBreakerNeedsNoToken checks that a request fails without waiting for the rate limit while the circuit breaker is
// open.
func TestOpenBreakerNeedsNoToken(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, reply(500, "application/json", "{}"))
	for range breakAfter {
		_, _ = c.Post(t.Context(), "x", "/thing", []byte("{}"))
	}
	exhaust(c)
	if _, err := c.Post(t.Context(), "x", "/thing", []byte("{}")); errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) {
		t.Errorf("request with an open breaker: %v", err)
	}
}
