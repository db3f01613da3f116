package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a function that returns the value of a key. last is the previous value, or the zero value if there is none. ctx ends
// after Options.Timeout and when the cache is closed. It does not end with the request that caused the load.
type Load[V any] func(ctx context.Context, last V) (V, error)

// Options configure a Cache. Now and either TTL or Life are required.
type Options[K comparable, V any] struct {
	TTL     time.Duration // age up to which a value is fresh and returned at once
	Stale   time.Duration // time after TTL in which the value is returned at once while a load runs
	IfError time.Duration // time after TTL and Stale in which the value is returned if the load fails
	Hold    time.Duration // minimum time between a failed load and the next one; 1 s when zero, none when negative
	Timeout time.Duration // timeout of one load; 5 s when zero
	MaxKeys int           // maximum number of keys; 4096 when zero
	Loads   int           // maximum number of concurrent loads; more fail with ErrBusy; 0: no limit
	Values  bool          // a load gets the context values of its first caller, such as the request id
	Now     func() time.Time

	Life   func(V) time.Duration  // returns the TTL of a value; replaces TTL
	Grace  func(V) time.Duration  // returns the stale time of a value; replaces Stale
	Failed func(key K, err error) // called after each failed load
}

// DefaultTimeout is the timeout of a load if Options has none.
const DefaultTimeout = 5 * time.Second

// Errors of the cache itself, in contrast to errors of a Load.
var (
	ErrClosed = errors.New("cache is closed")
	ErrBusy   = errors.New("cache has too many loads")
)

// Cache stores a bounded number of values by key. Concurrent reads of a key share one load. All methods are safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	o      Options[K, V]
	ctx    context.Context // parent context of all loads; canceled by Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	loads  atomic.Int64 // number of running loads

	mu      sync.RWMutex
	entries map[K]*entry[V]
	closed  bool
}

type entry[V any] struct {
	value atomic.Pointer[value[V]]
	used  atomic.Int64 // Unix time in seconds of the last read, for eviction

	mu     sync.Mutex
	flight *flight[V]
	load   Load[V]
	failed error
	until  time.Time // earliest time of the next load after a failure
}

// value is a loaded value with the time of its load, its TTL, and the time after that in which it is stale.
type value[V any] struct {
	v           V
	at          time.Time
	life, grace time.Duration
}

// flight is one running load. All concurrent readers of its key wait for it.
type flight[V any] struct {
	done chan struct{}
	v    V
	err  error
}

// New returns an empty cache. The caller must call Close to end the loads of the cache.
func New[K comparable, V any](o Options[K, V]) *Cache[K, V] {
	if o.Hold == 0 {
		o.Hold = time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = 4096
	}
	if o.Life == nil {
		o.Life = func(V) time.Duration { return o.TTL }
	}
	if o.Grace == nil {
		o.Grace = func(V) time.Duration { return o.Stale }
	}
	if o.Failed == nil {
		o.Failed = func(K, error) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Cache[K, V]{o: o, ctx: ctx, cancel: cancel, entries: make(map[K]*entry[V])}
}

// Get returns the value of a key. It returns a fresh value at once. It returns a stale value at once too, while a load runs in
// the background. Otherwise it waits for a load. If ctx ends first, Get returns the error of ctx. If the load fails, Get returns
// the last value until Options.IfError has passed, and then the error of the load. After Close, it returns ErrClosed.
func (c *Cache[K, V]) Get(ctx context.Context, key K, load Load[V]) (V, error) {
	var none V
	now := c.o.Now()
	e, err := c.entry(key, now)
	if err != nil {
		return none, err
	}
	last := e.value.Load()
	switch c.state(last, now) {
	case fresh:
		return last.v, nil
	case stale:
		c.start(ctx, e, key, load, now)
		return last.v, nil
	}
	f := c.start(ctx, e, key, load, now)
	select {
	case <-f.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if f.err == nil {
		return f.v, nil
	}
	if last != nil && now.Sub(last.at) < last.life+last.grace+c.o.IfError {
		return last.v, nil
	}
	return none, f.err
}

// Peek returns the value of a key if it is fresh or stale, without waiting. For a stale value, it starts a load with the last
// Load function that Get received for the key.
func (c *Cache[K, V]) Peek(key K) (v V, ok bool) {
	e := c.find(key)
	if e == nil {
		return v, false
	}
	now := c.o.Now()
	last := e.value.Load()
	switch c.state(last, now) {
	case fresh:
	case stale:
		c.start(context.Background(), e, key, nil, now)
	default:
		return v, false
	}
	e.touch(now)
	return last.v, true
}

// Last returns the last loaded value of a key and its age, even if it has expired. It returns false if no value is
// stored.
func (c *Cache[K, V]) Last(key K) (v V, age time.Duration, ok bool) {
	e := c.find(key)
	if e == nil {
		return v, 0, false
	}
	last := e.value.Load()
	if last == nil {
		return v, 0, false
	}
	return last.v, c.o.Now().Sub(last.at), true
}

// Drop deletes the value of a key, so that the next Get waits for a load.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// Put stores the value of a key as if it had just been loaded. After Close, it does nothing.
func (c *Cache[K, V]) Put(key K, v V) {
	now := c.o.Now()
	e, err := c.entry(key, now)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.set(e, v, now)
}

// set stores a value that was loaded at the time now. The caller must have locked the entry.
func (c *Cache[K, V]) set(e *entry[V], v V, now time.Time) {
	e.value.Store(&value[V]{v: v, at: now, life: c.o.Life(v), grace: c.o.Grace(v)})
	e.failed = nil
}

// Len returns the number of keys, including keys whose values have expired.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}

// Close cancels running loads and waits until they have ended. Later calls of Get return ErrClosed.
func (c *Cache[K, V]) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}

type state uint8

const (
	expired state = iota
	stale
	fresh
)

func (c *Cache[K, V]) state(last *value[V], now time.Time) state {
	if last == nil {
		return expired
	}
	switch age := now.Sub(last.at); {
	case age < last.life:
		return fresh
	case age < last.life+last.grace:
		return stale
	}
	return expired
}

func (e *entry[V]) touch(now time.Time) {
	if s := now.Unix(); e.used.Load() != s {
		e.used.Store(s)
	}
}

func (c *Cache[K, V]) find(key K) *entry[V] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[key]
}

// entry returns the entry of a key. It creates a missing entry and, if the cache is full, deletes another one first. After
// Close it returns ErrClosed.
func (c *Cache[K, V]) entry(key K, now time.Time) (*entry[V], error) {
	c.mu.RLock()
	e, closed := c.entries[key], c.closed
	c.mu.RUnlock()
	switch {
	case closed:
		return nil, ErrClosed
	case e != nil:
		e.touch(now)
		return e, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if e = c.entries[key]; e == nil {
		if len(c.entries) >= c.o.MaxKeys {
			c.evict()
		}
		e = &entry[V]{}
		c.entries[key] = e
	}
	e.touch(now)
	return e, nil
}

// evict examines 16 entries and deletes the one that was read least recently. Maps iterate in random order, so this entry is
// probably among the least recently read ones of the whole cache. An exact choice would need a list that every read has to lock.
func (c *Cache[K, V]) evict() {
	const sample = 16
	var evicted K
	oldest, seen := int64(0), 0
	for key, e := range c.entries {
		if used := e.used.Load(); seen == 0 || used < oldest {
			evicted, oldest = key, used
		}
		if seen++; seen == sample {
			break
		}
	}
	delete(c.entries, evicted)
}

// start returns the running load of an entry, or starts one. If load is nil, it uses the Load function of an earlier read.
//
// If start must not start a load, it returns one that has ended. If another load has just stored a fresh value, the ended load
// has this value. Within Options.Hold after a failure, it has the error of the failed load. Otherwise it has ErrClosed or
// ErrBusy.
func (c *Cache[K, V]) start(ctx context.Context, e *entry[V], key K, load Load[V], now time.Time) *flight[V] {
	e.mu.Lock()
	defer e.mu.Unlock()
	if load != nil {
		e.load = load
	}
	if e.flight != nil {
		return e.flight
	}
	f := &flight[V]{done: make(chan struct{})}
	c.mu.RLock()
	defer c.mu.RUnlock()
	last := e.value.Load()
	switch {
	case c.state(last, now) == fresh: // a load has ended since the caller read the value
		f.v = last.v
	case e.failed != nil && now.Before(e.until):
		f.err = e.failed
	case c.closed:
		f.err = ErrClosed
	case c.o.Loads > 0 && c.loads.Load() >= int64(c.o.Loads):
		f.err = ErrBusy
	default:
		e.flight, load = f, e.load
		c.loads.Add(1)
		c.wg.Go(func() {
			defer c.loads.Add(-1)
			c.run(ctx, e, key, load, f)
		})
		return f
	}
	close(f.done)
	return f
}

// run executes one load and stores its value or its error. It calls Options.Failed after an error.
func (c *Cache[K, V]) run(caller context.Context, e *entry[V], key K, load Load[V], f *flight[V]) {
	base := c.ctx
	if c.o.Values {
		base = context.WithoutCancel(caller)
	}
	ctx, cancel := context.WithTimeout(base, c.o.Timeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	var last V
	if p := e.value.Load(); p != nil {
		last = p.v
	}
	v, err := guarded(ctx, func(ctx context.Context) (V, error) { return load(ctx, last) })
	now := c.o.Now()
	e.mu.Lock()
	if err == nil {
		f.v = v
		c.set(e, v, now)
	} else {
		f.err = err
		e.failed, e.until = err, now.Add(c.o.Hold)
	}
	e.flight = nil
	e.mu.Unlock()
	close(f.done)
	if err != nil {
		c.o.Failed(key, err)
	}
}

// guarded calls load and converts a panic of load to an error. An unrecovered panic would end the process, because load
// runs in its own goroutine.
func guarded[V any](ctx context.Context, load func(context.Context) (V, error)) (v V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("load: panic: %v", p)
		}
	}()
	return load(ctx)
}
