package postgres

import (
	"slices"
	"sync"

	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// patients is how many markets are waited for at a time.
const patients = 4

// queues are the filings that wait for a market that somebody holds, each market's
// in its own queue: a market that is being resolved holds nobody else up.
type queues struct {
	write  writer
	places chan struct{} // a place for each market that is written

	mu      sync.Mutex
	waiting map[string][]*filing // by market; a market that is there has a worker
	length  int
	wg      sync.WaitGroup
}

func newQueues(write writer) *queues {
	return &queues{write: write, places: make(chan struct{}, patients), waiting: map[string][]*filing{}}
}

// takeOver takes the members of a batch that wait and gives back the others, which
// are answered; what the queues do not hold is answered with ErrBusy.
func (q *queues) takeOver(batch []*filing, waits func(*filing) bool) []*filing {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(batch), func(f *filing) bool {
		if !waits(f) {
			return false
		}
		if q.length >= queueLength {
			f.err = signal.ErrBusy
			return false
		}
		market := string(f.draft.MarketID)
		list, busy := q.waiting[market]
		q.waiting[market] = append(list, f)
		q.length++
		if !busy {
			q.wg.Go(func() { q.work(market) })
		}
		return true
	})
}

// work writes a market's queue until nothing waits in it.
func (q *queues) work(market string) {
	q.places <- struct{}{}
	defer func() { <-q.places }()
	for {
		batch := q.take(market)
		if batch == nil {
			return
		}
		q.write.flush(batch)
	}
}

// take takes what waits for a market and is still waited for; a queue without any
// is no more.
func (q *queues) take(market string) []*filing {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting[market]) > 0 {
		list := q.waiting[market]
		n := min(len(list), maxBatch)
		q.waiting[market], q.length = list[n:], q.length-n
		batch := slices.DeleteFunc(list[:n:n], func(f *filing) bool { return f.left.Load() })
		if len(batch) > 0 {
			return batch
		}
	}
	delete(q.waiting, market)
	return nil
}

// count is the number of filings that wait.
func (q *queues) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// close waits until all are answered; the coalescer before it is closed.
func (q *queues) close() { q.wg.Wait() }
