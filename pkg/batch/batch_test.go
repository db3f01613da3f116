package batch_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/signalcast/signalcast/pkg/batch"
)

// sender records batches. Each send blocks until the test sends to the channel pass or closes it.
type sender struct {
	pass chan struct{}

	mu   sync.Mutex
	sent []string
}

func (s *sender) send(items []int) {
	s.mu.Lock()
	s.sent = append(s.sent, fmt.Sprint(items))
	s.mu.Unlock()
	<-s.pass
}

// require waits until all goroutines are blocked and compares the batches sent since the last call of require with
// want.
func (s *sender) require(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.sent)
	if !slices.Equal(s.sent, want) {
		t.Errorf("sent %v, want %v", s.sent, want)
	}
	s.sent = nil
}

// run creates a queue that sends to a sender, and calls test with the queue and the sender in a synctest bubble.
func run(t *testing.T, cfg batch.Config[int], test func(t *testing.T, q *batch.Queue[int], s *sender)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sender{pass: make(chan struct{})}
		cfg.Send = s.send
		test(t, batch.New(cfg), s)
	})
}

func TestWaitingItemsAreBatched(t *testing.T) {
	run(t, batch.Config[int]{Size: 3, Bound: 10, Flight: 1}, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1)
		s.require(t, "[1]")
		q.Add(2)
		q.Add(3, 4, 5)
		s.require(t)
		if n := q.Len(); n != 4 {
			t.Errorf("%d items wait, want 4", n)
		}
		s.pass <- struct{}{}
		s.require(t, "[2 3 4]")
		close(s.pass)
		q.Close()
		s.require(t, "[5]")
		if n := q.Add(6); n != 0 || q.Len() != 0 {
			t.Errorf("a closed queue accepted %d items", n)
		}
	})
}

// TestSecondBatchInFlight checks that a second batch starts only when more items wait than fit into one batch, because
// one large batch costs less than two small ones.
func TestSecondBatchInFlight(t *testing.T) {
	run(t, batch.Config[int]{Size: 2, Bound: 10, Flight: 2, Spread: 3}, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1)
		s.require(t, "[1]")
		q.Add(2, 3)
		s.require(t)
		q.Add(4)
		s.require(t, "[2 3]")
		q.Add(5, 6, 7)
		s.require(t)
		close(s.pass)
		q.Close()
	})
}

func TestBound(t *testing.T) {
	run(t, batch.Config[int]{Size: 2, Bound: 3, Flight: 1}, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1)
		s.require(t, "[1]")
		if n := q.Add(2, 3, 4, 5); n != 3 {
			t.Errorf("accepted %d of 4 items, want 3", n)
		}
		if n := q.Add(6); n != 0 {
			t.Errorf("a full queue accepted %d items", n)
		}
		close(s.pass)
		q.Close()
		s.require(t, "[2 3]", "[4]")
	})
}

func TestUnwantedItemsAreNotSent(t *testing.T) {
	cfg := batch.Config[int]{Size: 3, Bound: 10, Flight: 1, Wanted: func(n int) bool { return n%2 == 1 }}
	run(t, cfg, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1)
		s.require(t, "[1]")
		q.Add(2, 3, 4, 6, 8, 10, 11)
		close(s.pass)
		q.Close()
		s.require(t, "[11]", "[3]")
	})
}

func TestKeysDoNotWaitForEachOther(t *testing.T) {
	cfg := batch.Config[int]{Size: 3, Bound: 10, Flight: 1, All: 2, Key: func(n int) string { return fmt.Sprint(n / 10) }}
	run(t, cfg, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1, 2)
		q.Add(10)
		s.require(t, "[1 2]", "[10]")
		q.Add(3, 20)
		s.require(t) // one batch of each key and two batches of all keys
		s.pass <- struct{}{}
		s.pass <- struct{}{}
		s.require(t, "[20]", "[3]")
		close(s.pass)
		q.Close()
	})
}

// TestAddFirstAndAdapt checks that an item of AddFirst is sent before the waiting items, even beyond the bound, and
// that Adapt limits the size of a batch.
func TestAddFirstAndAdapt(t *testing.T) {
	size := 1
	cfg := batch.Config[int]{Size: 3, Adapt: func() int { return size }, Bound: 2, Flight: 1}
	run(t, cfg, func(t *testing.T, q *batch.Queue[int], s *sender) {
		q.Add(1)
		s.require(t, "[1]")
		q.Add(2, 3)
		if !q.AddFirst(4) || q.Add(5) != 0 {
			t.Error("a full queue accepted an item of Add, or rejected one of AddFirst")
		}
		s.pass <- struct{}{}
		s.require(t, "[4]")
		size = 2
		s.pass <- struct{}{}
		s.require(t, "[2 3]")
		close(s.pass)
		q.Close()
		if q.AddFirst(6) {
			t.Error("a closed queue accepted an item")
		}
	})
}
