package batch

import (
	"slices"
	"sync"
)

// Config contains the limits and callbacks of a Queue. Size, Bound, Flight and Send are required.
type Config[T any] struct {
	Size int // maximum number of items in a batch
	// Adapt returns the maximum number of items in the next batch, from 1 to Size. Nil means Size.
	Adapt  func() int
	Bound  int // maximum number of waiting items; Add rejects more
	Flight int // maximum number of batches of one key in flight
	All    int // maximum number of batches of all keys in flight; 0: no limit
	// Spread is the minimum number of waiting items of a key that starts another batch while one is in flight.
	Spread int
	// Key returns the key of an item. A batch contains items of one key only. Nil means that all items have the same
	// key.
	Key func(T) string
	// Wanted reports whether an item must still be sent. It is called immediately before the batch is sent. Nil means
	// that every item is sent.
	Wanted func(T) bool
	// Send sends a batch and passes each result to its waiting caller. The next batch may start when Send returns.
	Send func(batch []T)
}

// Queue sends items in batches. Items of one key are sent in the order in which they were added. An item added by
// AddFirst is sent before all waiting items of its key.
type Queue[T any] struct {
	cfg     Config[T]
	slots   chan struct{}
	senders sync.WaitGroup

	mu     sync.Mutex
	queues map[string]*keyQueue[T] // keys that have waiting items or batches in flight
	length int
	closed bool
}

// keyQueue contains the waiting items of one key and the number of its batches in flight.
type keyQueue[T any] struct {
	waiting  []T
	inFlight int
}

// New returns an empty queue with the limits and callbacks of cfg.
func New[T any](cfg Config[T]) *Queue[T] {
	q := &Queue[T]{cfg: cfg, queues: map[string]*keyQueue[T]{}}
	if cfg.All > 0 {
		q.slots = make(chan struct{}, cfg.All)
	}
	return q
}

// Add adds the first of items, as many as Config.Bound permits, and returns their number. A closed queue accepts none.
func (q *Queue[T]) Add(items ...T) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	n = max(0, min(len(items), q.cfg.Bound-q.length))
	for _, item := range items[:n] {
		key, l := q.queueOf(item)
		l.waiting = append(l.waiting, item)
		q.added(key, l)
	}
	return n
}

// AddFirst adds an item before all waiting items of its key, even beyond Bound. It returns false if the queue is
// closed.
func (q *Queue[T]) AddFirst(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	key, l := q.queueOf(item)
	l.waiting = slices.Insert(l.waiting, 0, item)
	q.added(key, l)
	return true
}

// queueOf returns the key of an item and the queue of that key. It creates a missing queue.
func (q *Queue[T]) queueOf(item T) (key string, l *keyQueue[T]) {
	if q.cfg.Key != nil {
		key = q.cfg.Key(item)
	}
	if l = q.queues[key]; l == nil {
		l = &keyQueue[T]{}
		q.queues[key] = l
	}
	return key, l
}

// added increases the length of the queue by one. If no batch of the key is in flight, or if Config.Flight and Config.Spread
// permit another one, it starts a goroutine that sends batches.
func (q *Queue[T]) added(key string, l *keyQueue[T]) {
	q.length++
	if l.inFlight == 0 || l.inFlight < q.cfg.Flight && len(l.waiting) >= q.cfg.Spread {
		l.inFlight++
		q.senders.Go(func() { q.sendBatches(key, l) })
	}
}

// Len returns the number of items that wait, without the items of batches in flight.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// Close makes the queue reject new items. It returns when no item waits and no batch is in flight.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.senders.Wait()
}

// sendBatches sends batches of one key until no item of the key waits. It omits items that Config.Wanted rejects. If Config.All
// is set, sendBatches first waits until fewer than Config.All batches are in flight.
func (q *Queue[T]) sendBatches(key string, l *keyQueue[T]) {
	if q.slots != nil {
		q.slots <- struct{}{}
		defer func() { <-q.slots }()
	}
	for batch := q.nextBatch(key, l); batch != nil; batch = q.nextBatch(key, l) {
		if q.cfg.Wanted != nil {
			batch = slices.DeleteFunc(batch, func(item T) bool { return !q.cfg.Wanted(item) })
		}
		if len(batch) > 0 {
			q.cfg.Send(batch)
		}
	}
}

// nextBatch removes and returns the next batch of a key. If no item waits, it returns nil and decreases the number of batches
// in flight.
func (q *Queue[T]) nextBatch(key string, l *keyQueue[T]) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.waiting) == 0 {
		l.waiting = nil
		if l.inFlight--; l.inFlight == 0 {
			delete(q.queues, key)
		}
		return nil
	}
	n := min(len(l.waiting), q.cfg.Size)
	if q.cfg.Adapt != nil {
		n = min(n, q.cfg.Adapt())
	}
	batch := l.waiting[:n:n]
	l.waiting, q.length = l.waiting[n:], q.length-n
	return batch
}
