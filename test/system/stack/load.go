package stack

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// AtOnce calls the function do once for each i from 0 to n-1, in n goroutines that start at the same time. It returns when
// all calls have ended.
func AtOnce(n int, do func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			do(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// Each calls the function do once for each i from 0 to n-1, with at most width concurrent calls. It returns when all calls
// have ended. If a call ends its goroutine, as t.Fatal does, the other calls continue.
func Each(n, width int, do func(i int)) {
	var done sync.WaitGroup
	slots := make(chan struct{}, width)
	for i := range n {
		slots <- struct{}{}
		done.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	done.Wait()
}

// Steady calls the function do perSecond times per second for the duration d, even if earlier calls still run. It returns the
// number of calls when all have ended. If it is late, for example after a pause of the machine, it starts the missed calls at
// once. It starts no more calls when the test ends.
func Steady(t testing.TB, perSecond int, d time.Duration, do func(i int)) int {
	t.Helper()
	var done sync.WaitGroup
	defer done.Wait()
	start := time.Now()
	total := int(d.Seconds() * float64(perSecond))
	for i := range total {
		select {
		case <-t.Context().Done():
			return i
		case <-time.After(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond)))):
		}
		done.Go(func() { do(i) })
	}
	return total
}

// Times collects durations. It is safe for concurrent use.
type Times struct {
	mu   sync.Mutex
	list []time.Duration
}

// Add adds a duration.
func (t *Times) Add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, d)
}

// Quantile returns the duration at quantile q, from 0 to 1. Quantile 1 is the longest duration. It returns 0 if there are no
// durations.
func (t *Times) Quantile(q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == 0 {
		return 0
	}
	slices.Sort(t.list)
	return t.list[min(len(t.list)-1, int(q*float64(len(t.list))))]
}

// Count returns the number of durations.
func (t *Times) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}
