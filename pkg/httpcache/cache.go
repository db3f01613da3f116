package httpcache

import (
	"bytes"
	"context"
	"net/http"

	"github.com/signalcast/signalcast/pkg/cache"
)

// Build makes the body of a page. Its context lives as long as the book allows one build, not as long as the request that
// asked for it.
type Build func(context.Context) ([]byte, error)

// Options of a Book. TTL and Now are required.
type Options = cache.Options[string, *Page]

// Book is a cache of pages.
type Book struct{ *cache.Cache[string, *Page] }

// New returns an empty book. Close ends it.
func New(o Options) *Book { return &Book{cache.New(o)} }

// Get returns the page of a key as cache.Cache.Get does.
func (b *Book) Get(ctx context.Context, key string, build Build) (*Page, error) {
	return b.Cache.Get(ctx, key, func(ctx context.Context, last *Page) (*Page, error) {
		body, err := build(ctx)
		if err != nil {
			return nil, err
		}
		if last != nil && bytes.Equal(last.body, body) {
			return last, nil // no hash, no gzip
		}
		return Make(body), nil
	})
}

// Peek returns the page of a key if it may be served now, or nil. It never waits.
func (b *Book) Peek(key string) *Page {
	p, _ := b.Cache.Peek(key)
	return p
}

// Serve answers a request with the page of a key, building it when needed. Nothing is written when it returns an error, which
// is the build's.
func (b *Book) Serve(w http.ResponseWriter, r *http.Request, key string, build Build) error {
	p, err := b.Get(r.Context(), key, build)
	if err != nil {
		return err
	}
	p.WriteTo(w, r)
	return nil
}
