package batch

import (
	"slices"
	"sync"
)

// Config describes a queue.
type Config[T any] struct {
	Size int // most items of one batch
	// Adapt returns the most items of the next batch, from 1 to Size; nil: Size.
	Adapt  func() int
	Bound  int // most items that wait; Add rejects more
	Flight int // most batches of one key that are sent at the same time
	All    int // the same for all keys together; 0: no bound besides Flight
	// Spread is how many items of a key must wait before another batch starts while one is under way.
	Spread int
	// Key returns the key of an item. A batch has items of one key only; nil: all items have the same key.
	Key func(T) string
	// Wanted reports whether an item is still to be sent; nil: each is. It is called right before the batch is sent.
	Wanted func(T) bool
	// Send sends a batch and passes each result to the code that waits for it. It returns when another batch may be sent.
	Send func(batch []T)
}

// Queue sends items in batches. The items of one key are sent in the order in which they were added, those of AddFirst before all
// others.
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

// Add adds items until Bound is reached and returns the number of those added. A closed queue takes none.
func (q *Queue[T]) Add(items ...T) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	n = max(0, min(len(items), q.cfg.Bound-q.length))
	for _, item := range items[:n] {
		key, l := q.line(item)
		l.waiting = append(l.waiting, item)
		q.added(key, l)
	}
	return n
}

// AddFirst adds an item before those that wait, also beyond Bound. It reports whether the item was added: not to a closed queue.
func (q *Queue[T]) AddFirst(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	key, l := q.line(item)
	l.waiting = slices.Insert(l.waiting, 0, item)
	q.added(key, l)
	return true
}

// line returns the queue of an item and its key.
func (q *Queue[T]) line(item T) (key string, l *line[T]) {
	if q.cfg.Key != nil {
		key = q.cfg.Key(item)
	}
	if l = q.lines[key]; l == nil {
		l = &line[T]{}
		q.lines[key] = l
	}
	return key, l
}

// added counts an added item and starts another goroutine that sends batches if Flight and Spread allow it.
func (q *Queue[T]) added(key string, l *line[T]) {
	q.length++
	if l.flights == 0 || l.flights < q.cfg.Flight && len(l.waiting) >= q.cfg.Spread {
		l.flights++
		q.flying.Go(func() { q.fly(key, l) })
	}
}

// Len returns the number of items that wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// Close rejects further items and returns when all items that wait have been sent.
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

// take returns the next batch of a key. It returns nil if no item waits, and counts the sending goroutine as ended.
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
	if q.cfg.Adapt != nil {
		n = min(n, q.cfg.Adapt())
	}
	batch := l.waiting[:n:n]
	l.waiting, q.length = l.waiting[n:], q.length-n
	return batch
}
