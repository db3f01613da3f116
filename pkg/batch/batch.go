package batch

import (
	"slices"
	"sync"
)

// Config describes a queue.
type Config[T any] struct {
	Size   int // most items of one batch
	Bound  int // most items that wait; Add rejects more
	Flight int // most batches of one key that are sent at the same time
	All    int // the same for all keys together; 0: no bound besides Flight
	// Spread is how many items of a key must wait before another batch starts while one is under way.
	Spread int
	// Key returns the key of an item. A batch has items of one key only; nil: all items have the same key.
	Key func(T) string
	// Wanted reports whether an item is still to be sent; nil: each is. It is called right before the batch is sent.
	Wanted func(T) bool
	// Send sends a batch and returns when another one may be sent. It answers the items itself.
	Send func(batch []T)
}

// Queue sends items in batches. The items of one key are sent in the order in which they were added.
type Queue[T any] struct {
	cfg    Config[T]
	places chan struct{}
	flying sync.WaitGroup

	mu     sync.Mutex
	lines  map[string]*line[T] // those with items or batches
	length int
	closed bool
}

// line is the queue of one key.
type line[T any] struct {
	waiting []T
	flights int
}

// New returns an empty queue.
func New[T any](cfg Config[T]) *Queue[T] {
	q := &Queue[T]{cfg: cfg, lines: map[string]*line[T]{}}
	if cfg.All > 0 {
		q.places = make(chan struct{}, cfg.All)
	}
	return q
}

// Add adds the first n items, as many as there is space for, and returns n. A closed queue takes none.
func (q *Queue[T]) Add(items ...T) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	n = min(len(items), q.cfg.Bound-q.length)
	for _, item := range items[:n] {
		var key string
		if q.cfg.Key != nil {
			key = q.cfg.Key(item)
		}
		l := q.lines[key]
		if l == nil {
			l = &line[T]{}
			q.lines[key] = l
		}
		l.waiting = append(l.waiting, item)
		q.length++
		if l.flights == 0 || l.flights < q.cfg.Flight && len(l.waiting) >= q.cfg.Spread {
			l.flights++
			q.flying.Go(func() { q.fly(key, l) })
		}
	}
	return n
}

// Len returns the number of items that wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// Close rejects further items and returns when those that wait have been sent.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.flying.Wait()
}

// fly sends batches of one key until none of its items waits.
func (q *Queue[T]) fly(key string, l *line[T]) {
	if q.places != nil {
		q.places <- struct{}{}
		defer func() { <-q.places }()
	}
	for batch := q.take(key, l); batch != nil; batch = q.take(key, l) {
		if q.cfg.Wanted != nil {
			batch = slices.DeleteFunc(batch, func(item T) bool { return !q.cfg.Wanted(item) })
		}
		if len(batch) > 0 {
			q.cfg.Send(batch)
		}
	}
}

// take returns the next batch of a key, or ends the flight with nil.
func (q *Queue[T]) take(key string, l *line[T]) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.waiting) == 0 {
		l.waiting = nil
		if l.flights--; l.flights == 0 {
			delete(q.lines, key)
		}
		return nil
	}
	n := min(len(l.waiting), q.cfg.Size)
	batch := l.waiting[:n:n]
	l.waiting, q.length = l.waiting[n:], q.length-n
	return batch
}
