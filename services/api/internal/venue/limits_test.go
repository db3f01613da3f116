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

// crowd takes turns with many callers of one purpose until ctx ends and counts
// those that came.
func crowd(ctx context.Context, wait *sync.WaitGroup, t *turns, p market.Purpose, callers int) *atomic.Int64 {
	came := &atomic.Int64{}
	for range callers {
		wait.Go(func() {
			for ctx.Err() == nil {
				if t.wait(market.WithPurpose(ctx, p)) == nil {
					came.Add(1)
					continue
				}
				_ = sleep(ctx, 50*time.Millisecond)
			}
		})
	}
	return came
}

// Whoever asks how much, the host sees no more than the rate, and every purpose
// has its part of it.
func TestPurposesShareOneRate(t *testing.T) {
	t.Parallel()
	for _, rps := range []float64{1, 5, 100} {
		synctest.Test(t, func(t *testing.T) {
			const seconds = 100
			turns := newTurns(rps, time.Now)
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
				if part := parts[p].share * rps * seconds; float64(n.Load()) < 0.9*part {
					t.Errorf("%v a second: purpose %d had %d turns, its part is %v", rps, p, n.Load(), part)
				}
			}
			if most := rps*seconds + burst; all > most+1 || burst > max(2*rps, float64(market.Purposes)) {
				t.Errorf("%v a second: %v turns in %d seconds, at most %v; %v at once", rps, all, seconds, most, burst)
			}
		})
	}
}

// A purpose without competition gets the whole rate.
func TestOnePurposeAloneHasTheRate(t *testing.T) {
	t.Parallel()
	for p := range market.Purposes {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(5, time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
			defer cancel()
			var wait sync.WaitGroup
			came := crowd(ctx, &wait, turns, market.Purpose(p), 5)
			wait.Wait()
			if n := came.Load(); n < 475 || n > 510 {
				t.Errorf("purpose %d alone had %d turns of 500", p, n)
			}
		})
	}
}

// Who comes late does not take a token before the more urgent who wait for it.
func TestALateReaderDoesNotOvertake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(5, time.Now)
		readers, catalogue := &turns.lanes[market.ForReader], &turns.lanes[market.ForCatalogue]
		for _, l := range []*lane{readers, catalogue} {
			for l.bucket.Allow() {
			}
		}
		catalogue.queue = append(catalogue.queue, make(chan struct{}))
		if turns.grant(market.ForReader) {
			t.Error("a reader took what the catalogue waits for")
		}
		catalogue.queue = nil
		if !turns.grant(market.ForReader) {
			t.Error("a reader waits although no other purpose has requests")
		}
	})
}

// Unused turns go to the most urgent purpose that waits.
func TestTheMoreUrgentHasWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(5, time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		var wait sync.WaitGroup
		readers := crowd(ctx, &wait, turns, market.ForReader, 5)
		catalogue := crowd(ctx, &wait, turns, market.ForCatalogue, 5)
		wait.Wait()
		if r, c := readers.Load(), catalogue.Load(); c < 400 || r < 67 || r > 85 {
			t.Errorf("of 500 turns the catalogue had %d and readers %d", c, r)
		}
	})
}

// During a flood of readers, requests for filings and the catalogue are not refused and do not wait long.
func TestReadersCannotCrowdOutFilings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(5, time.Now)
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

// Of a flood only those wait who have a chance; the others hear at once that the
// limit is ours.
func TestAFloodIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for p, most := range map[market.Purpose]int{market.ForReader: 5, market.ForFiling: 3, market.ForCatalogue: mostWaiting} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(5, time.Now)
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
				t.Errorf("purpose %d: %d wait, want %d; %d came, %d refused, %d otherwise", p, n, most, came.Load(), busy.Load(), odd.Load())
			}
			cancel()
			synctest.Wait()
			if n := len(turns.lanes[p].queue); n != 0 {
				t.Errorf("purpose %d: %d wait who left", p, n)
			}
		})
	}
}

func TestACallerThatHasLeftTakesNoTurn(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if err := turns.wait(ctx); !errors.Is(err, market.ErrUnavailable) || errors.Is(err, market.ErrBusy) {
			t.Errorf("a caller that has left: %v", err)
		}
	}
	if err := turns.wait(t.Context()); err != nil {
		t.Error(err)
	}
}
