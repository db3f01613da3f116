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
type Cache struct{ *cache.Cache[string, *Page] }

// New returns an empty cache. The caller must call Close to end the builds of the cache.
func New(o Options) *Cache { return &Cache{cache.New(o)} }

// Get returns the page of a key, with the rules of cache.Cache.Get for stale and expired values. If a new body equals
// the last one, Get returns the last page.
func (c *Cache) Get(ctx context.Context, key string, build Build) (*Page, error) {
	return c.Cache.Get(ctx, key, func(ctx context.Context, last *Page) (*Page, error) {
		body, err := build(ctx)
		if err != nil {
			return nil, err
		}
		if last != nil && bytes.Equal(last.body, body) {
			return last, nil // unchanged: no new hash and gzip
		}
		return Make(body), nil
	})
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
