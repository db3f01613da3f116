package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Build makes the body of a page. Its context lives as long as the book
// allows one build, not as long as the request that asked for it.
type Build func(context.Context) ([]byte, error)

// Options of a Book. TTL and Now are needed.
type Options struct {
	TTL     time.Duration // a page this young is served as it is
	Stale   time.Duration // for so much longer it is served while one build runs
	IfError time.Duration // and so much longer than that when builds fail
	Hold    time.Duration // pause after a failed build; 1 s when zero
	Timeout time.Duration // of one build; 5 s when zero
	MaxKeys int           // 4096 when zero
	Now     func() time.Time

	// Failed hears of every failed build.
	Failed func(key string, err error)
}

// ErrClosed is returned by reads of a closed book.
var ErrClosed = errors.New("page: book is closed")

// Book is a bounded set of pages by key. All methods may be called at once.
type Book struct {
	o      Options
	ctx    context.Context // of all builds; ended by Close
	cancel context.CancelFunc
	builds sync.WaitGroup

	mu     sync.RWMutex
	pages  map[string]*entry
	closed bool
}

type entry struct {
	page atomic.Pointer[Page]
	used atomic.Int64 // unix seconds of the last read, for eviction
	old  atomic.Bool  // expired by an event: rebuild at the next read

	mu     sync.Mutex
	flight *flight
	build  Build
	failed error
	until  time.Time // no build before, after a failure
}

// flight is one running build.
type flight struct {
	done chan struct{}
	page *Page
	err  error
}

// New makes an empty book. Close ends it.
func New(o Options) *Book {
	if o.Hold == 0 {
		o.Hold = time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = 4096
	}
	if o.Failed == nil {
		o.Failed = func(string, error) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Book{o: o, ctx: ctx, cancel: cancel, pages: make(map[string]*entry)}
}

// Serve answers a request with the page of a key, building it when needed.
// Nothing is written when it returns an error, which is the build's.
func (b *Book) Serve(w http.ResponseWriter, r *http.Request, key string, build Build) error {
	p, err := b.Get(r.Context(), key, build)
	if err != nil {
		return err
	}
	p.WriteTo(w, r)
	return nil
}

// Get returns the page of a key: a young one at once, an older one at once
// while a build runs behind, otherwise it waits for the build, as long as ctx
// lasts. When the build fails, the last page serves for IfError longer.
func (b *Book) Get(ctx context.Context, key string, build Build) (*Page, error) {
	now := b.o.Now()
	e, err := b.entry(key, now)
	if err != nil {
		return nil, err
	}
	p := e.page.Load()
	switch b.state(e, p, now) {
	case fresh:
		return p, nil
	case stale:
		b.start(e, key, build, now)
		return p, nil
	}
	f := b.start(e, key, build, now)
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.err == nil {
		return f.page, nil
	}
	if p != nil && now.Sub(p.built) < b.o.TTL+b.o.Stale+b.o.IfError {
		return p, nil
	}
	return nil, f.err
}

// Peek returns a page that may be served now, or nil. It never waits; a page
// past its time is rebuilt behind by the build that made it.
func (b *Book) Peek(key string) *Page {
	b.mu.RLock()
	e := b.pages[key]
	b.mu.RUnlock()
	if e == nil {
		return nil
	}
	now := b.o.Now()
	p := e.page.Load()
	switch b.state(e, p, now) {
	case fresh:
	case stale:
		b.start(e, key, nil, now)
	default:
		return nil
	}
	e.touch(now)
	return p
}

// Expire marks the page of a key as out of date: the next read still gets it
// and starts a build. For events that change what the page shows.
func (b *Book) Expire(key string) {
	b.mu.RLock()
	e := b.pages[key]
	b.mu.RUnlock()
	if e != nil {
		e.old.Store(true)
	}
}

// ExpireAll is Expire for every key.
func (b *Book) ExpireAll() {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, e := range b.pages {
		e.old.Store(true)
	}
}

// Drop forgets the page of a key: the next read waits for a build.
func (b *Book) Drop(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages, key)
}

// Len is the number of keys.
func (b *Book) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.pages)
}

// Close ends running builds and waits for them; later reads that need a build
// get ErrClosed.
func (b *Book) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.builds.Wait()
}

type state uint8

const (
	gone state = iota
	stale
	fresh
)

func (b *Book) state(e *entry, p *Page, now time.Time) state {
	if p == nil {
		return gone
	}
	switch age := now.Sub(p.built); {
	case age < b.o.TTL && !e.old.Load():
		return fresh
	case age < b.o.TTL+b.o.Stale:
		return stale
	}
	return gone
}

func (e *entry) touch(now time.Time) {
	if s := now.Unix(); e.used.Load() != s {
		e.used.Store(s)
	}
}

// entry finds or makes the entry of a key and keeps the book within its bound.
func (b *Book) entry(key string, now time.Time) (*entry, error) {
	b.mu.RLock()
	e, closed := b.pages[key], b.closed
	b.mu.RUnlock()
	switch {
	case closed:
		return nil, ErrClosed
	case e != nil:
		e.touch(now)
		return e, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if e = b.pages[key]; e == nil {
		if len(b.pages) >= b.o.MaxKeys {
			b.evict()
		}
		e = &entry{}
		b.pages[key] = e
	}
	e.touch(now)
	return e, nil
}

// evict drops the least recently read of a few entries. Maps range in random
// order, so this is close to dropping the oldest without keeping a list that
// every read would have to lock.
func (b *Book) evict() {
	const sample = 16
	var victim string
	oldest, seen := int64(0), 0
	for key, e := range b.pages {
		if used := e.used.Load(); seen == 0 || used < oldest {
			victim, oldest = key, used
		}
		if seen++; seen == sample {
			break
		}
	}
	delete(b.pages, victim)
}

// start joins the running build of an entry or begins one. A build may be nil
// when the entry already knows one. Shortly after a failure it gives that
// failure again.
func (b *Book) start(e *entry, key string, build Build, now time.Time) *flight {
	e.mu.Lock()
	defer e.mu.Unlock()
	if build != nil {
		e.build = build
	}
	if e.flight != nil {
		return e.flight
	}
	f := &flight{done: make(chan struct{})}
	if p := e.page.Load(); b.state(e, p, now) == fresh { // a build ended since the caller looked
		f.page = p
		close(f.done)
		return f
	}
	if e.failed != nil && now.Before(e.until) {
		f.err = e.failed
		close(f.done)
		return f
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		f.err = ErrClosed
		close(f.done)
		return f
	}
	e.flight = f
	build = e.build
	b.builds.Go(func() { b.run(e, key, build, f) })
	return f
}

// run is one build.
func (b *Book) run(e *entry, key string, build Build, f *flight) {
	ctx, cancel := context.WithTimeout(b.ctx, b.o.Timeout)
	defer cancel()
	// Before the build, so that an event during it asks for one more.
	e.old.Store(false)
	body, err := guarded(ctx, build)
	now := b.o.Now()
	e.mu.Lock()
	if err == nil {
		f.page = next(e.page.Load(), body, now)
		e.page.Store(f.page)
		e.failed = nil
	} else {
		f.err = err
		e.failed, e.until = err, now.Add(b.o.Hold)
		e.old.Store(true)
	}
	e.flight = nil
	e.mu.Unlock()
	close(f.done)
	if err != nil {
		b.o.Failed(key, err)
	}
}

// guarded turns a panic of a build into its error: the goroutine is ours.
func guarded(ctx context.Context, build Build) (body []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("build page: panic: %v", v)
		}
	}()
	return build(ctx)
}

// next keeps the old page's bytes when nothing changed: no hash, no gzip.
func next(old *Page, body []byte, now time.Time) *Page {
	if old != nil && bytes.Equal(old.body, body) {
		return old.renew(now)
	}
	return Make(body, now)
}
