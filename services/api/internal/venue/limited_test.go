package venue

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// manualClock is a clock that the test advances.
type manualClock struct {
	mu sync.Mutex
	at time.Time
}

func (h *manualClock) now() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.at }

func (h *manualClock) advance(d time.Duration) { h.mu.Lock(); h.at = h.at.Add(d); h.mu.Unlock() }

func limitedBy(header string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		reply(429, "text/plain", "error code: 1015")(w, r)
	}
}

// TestHostPauseIsObeyed checks that status 429 gives ErrBusy and is not counted as a failure of the host. The host must get
// no request for the time in Retry-After.
func TestHostPauseIsObeyed(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	for header, pause := range map[string]time.Duration{
		"7": 7 * time.Second, "86400": time.Minute, "99999999999": time.Minute, "-3": 0, "": 0, "soon": 0,
		noon.Add(20 * time.Second).Format(http.TimeFormat): 20 * time.Second, noon.Add(-time.Hour).Format(http.TimeFormat): 0,
		noon.Add(time.Hour).Format(http.TimeFormat): time.Minute,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			clock := &manualClock{at: noon}
			var free atomic.Bool
			c, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if free.Load() {
					reply(200, "application/json", "{}")(w, r)
					return
				}
				limitedBy(header)(w, r)
			})
			c.now, c.limits.now = clock.now, clock.now
			filing := market.WithPurpose(t.Context(), market.ForFiling)
			ask := func(want int32) {
				t.Helper()
				if _, err := c.Get(filing, "x", "/thing", nil); !errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) || hits.Load() != want {
					t.Errorf("%v after %d requests, want %d", err, hits.Load(), want)
				}
			}
			ask(1)
			free.Store(true)
			if pause > 0 {
				ask(1)
				clock.advance(pause - shares[market.ForFiling].wait - time.Millisecond)
				ask(1)
				clock.advance(shares[market.ForFiling].wait + time.Millisecond)
			}
			if _, err := c.Get(filing, "x", "/thing", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStatus429DoesNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	c, hits := serve(t, limitedBy(""))
	for range 3 * breakAfter {
		if _, err := c.Post(t.Context(), "x", "/thing", []byte("{}")); !errors.Is(err, market.ErrBusy) {
			t.Fatal(err)
		}
	}
	if c.breaker.Refuses() || hits.Load() != 3*breakAfter {
		t.Errorf("breaker open: %v after %d requests", c.breaker.Refuses(), hits.Load())
	}
}

// TestTheCatalogueWaitsForThePause checks that a request of the catalogue waits until the pause after status 429 has ended
// and is then sent. Only its context limits the wait.
func TestTheCatalogueWaitsForThePause(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	var again time.Time
	c, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			limitedBy("1")(w, r)
			return
		}
		again = time.Now()
		reply(200, "application/json", "{}")(w, r)
	})
	began := time.Now()
	if _, err := c.Get(market.WithPurpose(t.Context(), market.ForCatalogue), "x", "/thing", nil); err != nil || hits.Load() != 2 {
		t.Errorf("%v after %d", err, hits.Load())
	}
	if took := again.Sub(began); took < time.Second {
		t.Errorf("repeated after %v", took)
	}
}

func TestStatus429IsCountedSeparately(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	c, _ := serve(t, limitedBy(""))
	c.meter = NewMeter(registry)
	_, _ = c.Post(t.Context(), "read", "/thing", nil)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(families); !containsAll(text, `"limited"`, `"read"`) {
		t.Error(text)
	}
}

// TestTheRateFallsAndRises checks that an answer with status 429 halves the rate, at most once a second and not below the
// minimum. The rate must rise again if there are no such answers.
func TestTheRateFallsAndRises(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newLimits(16, time.Now)
		inTen := func() int {
			came := 0
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
				if turns.wait(market.WithPurpose(t.Context(), market.ForCatalogue)) == nil {
					came++
				}
			}
			return came
		}
		near := func(when string, got, want int) {
			t.Helper()
			if got < want*8/10-1 || got > want*12/10+3 {
				t.Errorf("%s: %d requests in ten seconds; want about %d", when, got, want)
			}
		}
		_ = inTen()
		near("at first", inTen(), 160)
		for range 5 { // concurrent answers with status 429
			turns.slow(0)
		}
		near("after a complaint", inTen(), 80)
		for range 10 {
			_ = sleep(t.Context(), fallEvery)
			turns.slow(0)
		}
		near("after many", inTen(), 10)
		_ = sleep(t.Context(), 5*riseEvery)
		for range 5 { // one step for each period with a request
			_ = sleep(t.Context(), riseEvery)
			_ = turns.wait(t.Context())
		}
		_ = inTen()
		near("after recovery", inTen(), 160)
	})
}

func TestPauseAppliesToAllPurposes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newLimits(100, time.Now)
		turns.slow(10 * time.Second)
		for _, p := range []market.Purpose{market.ForReader, market.ForWatch, market.ForFiling} {
			began := time.Now()
			if err := turns.wait(market.WithPurpose(t.Context(), p)); !errors.Is(err, market.ErrBusy) || time.Since(began) != 0 {
				t.Errorf("purpose %d: %v after %v", p, err, time.Since(began))
			}
		}
		began := time.Now()
		if err := turns.wait(market.WithPurpose(t.Context(), market.ForCatalogue)); err != nil || time.Since(began) < 10*time.Second || time.Since(began) > 11*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
