package httpcache

import (
	"bytes"
	"context"
	"net/http"

	"github.com/signalcast/signalcast/pkg/cache"
)

// Build is a function that returns the body of a response. The cache stores the body as a Page. ctx ends after Options.Timeout
// and when the cache is closed. It does not end with the request that caused the build.
type Build func(context.Context) ([]byte, error)

// Options configure a Cache. TTL and Now are required.
type Options = cache.Options[string, *Page]

// Cache stores complete responses (pages) by key, for a limited time.
type Cache struct {
	*cache.Cache[string, *Page]
	level *level // nil: the pages are those of this process only
}

// New returns an empty cache of this process. The caller must call Close to end the builds of the cache.
func New(o Options) *Cache { return &Cache{Cache: cache.New(o)} }

// Get returns the page of a key, with the rules of cache.Cache.Get for stale and expired values. If a new body equals
// the last one, Get returns the last page.
func (c *Cache) Get(ctx context.Context, key string, build Build) (*Page, error) {
	return c.Cache.Get(ctx, key, func(ctx context.Context, last *Page) (*Page, error) {
		if c.level != nil {
			return c.level.load(ctx, key, last, build)
		}
		return makeFrom(ctx, last, build)
	})
}

// makeFrom builds a page. If the body equals that of the page last, it returns last.
func makeFrom(ctx context.Context, last *Page, build Build) (*Page, error) {
	body, err := build(ctx)
	if err != nil {
		return nil, err
	}
	if last != nil && bytes.Equal(last.body, body) {
		return last, nil // unchanged: no new hash and gzip
	}
	return Make(body), nil
}

// Put stores a body as the page of a key.
func (c *Cache) Put(key string, body []byte) {
	p := Make(body)
	if c.level != nil {
		p = c.level.put(key, p)
	}
	c.Cache.Put(key, p)
}

// Drop deletes the page of a key, so that the next Get waits for a build. In a shared cache, it deletes all shared pages.
func (c *Cache) Drop(key string) {
	if c.level != nil {
		c.level.shared.Clear()
	}
	c.Cache.Drop(key)
}

// Close cancels running builds and waits until they have ended. Later calls of Get return cache.ErrClosed.
func (c *Cache) Close() {
	if c.level != nil {
		c.level.cancel()
	}
	c.Cache.Close()
	if c.level != nil {
		c.level.work.Wait()
	}
}

// Peek returns the page of a key without waiting, or nil if the page is missing or expired. A stale page is returned and rebuilt
// in the background.
func (c *Cache) Peek(key string) *Page {
	p, _ := c.Cache.Peek(key)
	return p
}

// Serve writes the page of a key as the response to r, and builds the page if necessary. If the build fails, Serve
// returns its error and writes nothing.
func (c *Cache) Serve(w http.ResponseWriter, r *http.Request, key string, build Build) error {
	p, err := c.Get(r.Context(), key, build)
	if err != nil {
		return err
	}
	p.WriteTo(w, r)
	return nil
}
