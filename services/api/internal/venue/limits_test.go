package venue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// crowd runs callers that repeatedly wait for the rate limit with one purpose, until ctx ends. The result counts the
// admitted requests.
func crowd(ctx context.Context, wait *sync.WaitGroup, t *limits, p market.Purpose, callers int) *atomic.Int64 {
	admitted := &atomic.Int64{}
	for range callers {
		wait.Go(func() {
			for ctx.Err() == nil {
				if t.wait(market.WithPurpose(ctx, p)) == nil {
					admitted.Add(1)
					continue
				}
				_ = sleep(ctx, 50*time.Millisecond)
			}
		})
	}
	return admitted
}

// TestPurposesShareOneRate checks that the host never gets more requests than the rate allows, and that every purpose gets
// its share.
func TestPurposesShareOneRate(t *testing.T) {
	t.Parallel()
	for _, rps := range []float64{1, 5, 100} {
		synctest.Test(t, func(t *testing.T) {
			const seconds = 100
			turns := newLimits(rps, time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
			defer cancel()
			var wait sync.WaitGroup
			var came [market.Purposes]*atomic.Int64
			for p := range came {
				came[p] = crowd(ctx, &wait, turns, market.Purpose(p), 8)
			}
			wait.Wait()
			all, burst := 0.0, 0.0
			for p, n := range came {
				all += float64(n.Load())
				burst += float64(turns.lanes[p].bucket.Burst())
				if part := shares[p].share * rps * seconds; float64(n.Load()) < 0.9*part {
					t.Errorf("at %v requests/s: purpose %d sent %d requests; its share is %v", rps, p, n.Load(), part)
				}
			}
			if most := rps*seconds + burst; all > most+1 || burst > max(2*rps, float64(market.Purposes)) {
				t.Errorf("at %v requests/s: %v requests in %d seconds; want at most %v, with a burst of %v", rps, all, seconds, most, burst)
			}
		})
	}
}

// TestOnePurposeAloneHasTheRate checks that a purpose gets the whole rate while no other purpose sends requests.
func TestOnePurposeAloneHasTheRate(t *testing.T) {
	t.Parallel()
	for p := range market.Purposes {
		synctest.Test(t, func(t *testing.T) {
			turns := newLimits(5, time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
			defer cancel()
			var wait sync.WaitGroup
			came := crowd(ctx, &wait, turns, market.Purpose(p), 5)
			wait.Wait()
			if n := came.Load(); n < 475 || n > 510 {
				t.Errorf("purpose %d alone sent %d requests; want about 500", p, n)
			}
		})
	}
}

// TestALateReaderDoesNotOvertake checks that a new request does not take a token for which a more urgent request waits.
func TestALateReaderDoesNotOvertake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newLimits(5, time.Now)
		readers, catalogue := &turns.lanes[market.ForReader], &turns.lanes[market.ForCatalogue]
		for _, l := range []*lane{readers, catalogue} {
			for l.bucket.Allow() {
			}
		}
		catalogue.queue = append(catalogue.queue, make(chan struct{}))
		if turns.grant(market.ForReader) {
			t.Error("a reader took the token for which the catalogue waits")
		}
		catalogue.queue = nil
		if !turns.grant(market.ForReader) {
			t.Error("a reader waits although no other purpose has requests")
		}
	})
}

// TestUnusedTokensGoToTheMostUrgent checks that tokens which a purpose does not use go to the most urgent purpose with
// waiting requests.
func TestUnusedTokensGoToTheMostUrgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newLimits(5, time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		var wait sync.WaitGroup
		readers := crowd(ctx, &wait, turns, market.ForReader, 5)
		catalogue := crowd(ctx, &wait, turns, market.ForCatalogue, 5)
		wait.Wait()
		if r, c := readers.Load(), catalogue.Load(); c < 400 || r < 67 || r > 85 {
			t.Errorf("of 500 tokens the catalogue got %d and readers got %d", c, r)
		}
	})
}

// TestReadersCannotCrowdOutFilings checks that requests for filings and for the catalogue are neither rejected nor delayed
// for long during a flood of requests by readers.
func TestReadersCannotCrowdOutFilings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newLimits(5, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		crowd(ctx, &wait, turns, market.ForReader, 50)
		crowd(ctx, &wait, turns, market.ForWatch, 20)
		for range 30 {
			for _, p := range []market.Purpose{market.ForFiling, market.ForFiling, market.ForCatalogue} {
				began := time.Now()
				if err := turns.wait(market.WithPurpose(t.Context(), p)); err != nil || time.Since(began) > 500*time.Millisecond {
					t.Errorf("purpose %d: %v after %v", p, err, time.Since(began))
				}
			}
			_ = sleep(t.Context(), time.Second)
		}
		cancel()
		wait.Wait()
	})
}

// TestAFloodIsRefusedAtOnce checks that, of a flood of requests, only those wait that can be sent in time. The others must
// get ErrBusy immediately.
func TestAFloodIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for p, most := range map[market.Purpose]int{market.ForReader: 5, market.ForFiling: 3, market.ForCatalogue: maxWaiting} {
		synctest.Test(t, func(t *testing.T) {
			turns := newLimits(5, time.Now)
			ctx, cancel := context.WithCancel(t.Context())
			var busy, odd, came atomic.Int64
			for range 10_000 {
				go func() {
					switch err := turns.wait(market.WithPurpose(ctx, p)); {
					case err == nil:
						came.Add(1)
					case errors.Is(err, market.ErrBusy) && errors.Is(err, market.ErrUnavailable):
						busy.Add(1)
					default:
						odd.Add(1)
					}
				}()
			}
			synctest.Wait() // no time has passed
			if n := len(turns.lanes[p].queue); n != most || odd.Load() != 0 || busy.Load()+came.Load() != int64(10_000-most) || came.Load() > 10 {
				t.Errorf("purpose %d: %d requests wait; want %d; %d admitted, %d refused, %d other errors", p, n, most, came.Load(), busy.Load(), odd.Load())
			}
			cancel()
			synctest.Wait()
			if n := len(turns.lanes[p].queue); n != 0 {
				t.Errorf("purpose %d: %d canceled requests still wait", p, n)
			}
		})
	}
}

func TestCanceledCallerTakesNoToken(t *testing.T) {
	t.Parallel()
	turns := newLimits(1, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if err := turns.wait(ctx); !errors.Is(err, market.ErrUnavailable) || errors.Is(err, market.ErrBusy) {
			t.Errorf("canceled caller: %v", err)
		}
	}
	if err := turns.wait(t.Context()); err != nil {
		t.Error(err)
	}
}
