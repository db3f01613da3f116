package venue

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// exhaust takes every turn and place of a purpose that there is.
func exhaust(c *Client) {
	for p := range c.turns.lanes {
		l := &c.turns.lanes[p]
		for l.bucket.Allow() {
		}
		l.bucket.SetLimit(1e-9)
		for range mostWaiting {
			l.queue = append(l.queue, make(chan struct{}))
		}
	}
}

// A request that the process's own limit refuses is not counted as a failure of the host, also after a failure.
func TestOurOwnLimitIsNoFailureOfTheHost(t *testing.T) {
	t.Parallel()
	c, hits := serve(t, reply(200, "application/json", "{}"))
	exhaust(c)
	for range 3 * breakAfter {
		if _, err := c.Get(t.Context(), "x", "/thing", nil); !errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) {
			t.Fatalf("%v", err)
		}
	}
	if hits.Load() != 0 || c.breaker.Refuses() {
		t.Errorf("%d requests, the host rests: %v", hits.Load(), c.breaker.Refuses())
	}
}

func TestAHostThatFailedIsNotBusy(t *testing.T) {
	t.Parallel()
	var once atomic.Bool
	var c *Client
	c, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if once.CompareAndSwap(false, true) {
			c.turns.mu.Lock()
			exhaust(c)
			c.turns.mu.Unlock()
		}
		reply(503, "text/html", "away")(w, r)
	})
	if _, err := c.Get(t.Context(), "x", "/thing", nil); errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) || hits.Load() != 1 {
		t.Errorf("%v after %d", err, hits.Load())
	}
}

// That a host rests is heard without a turn: a flood does not hide it.
func TestAHostThatRestsTakesNoTurn(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, reply(500, "application/json", "{}"))
	for range breakAfter {
		_, _ = c.Post(t.Context(), "x", "/thing", []byte("{}"))
	}
	exhaust(c)
	if _, err := c.Post(t.Context(), "x", "/thing", []byte("{}")); errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
