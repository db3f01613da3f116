package view

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// Cache times. TTL is the age up to which a cached response is fresh. Stale is the time after the TTL in which the response is
// still served during a refresh. Last is the maximum age of a fallback copy.
const (
	QuickTTL = time.Second

	ProgramTTL   = 30 * time.Second
	ProgramStale = 30 * time.Second
	ProgramLast  = 5 * time.Minute

	MovingTTL   = 10 * time.Second
	MovingStale = 20 * time.Second
)

// BuildTimeout is the time limit for building a response, so that clients do not wait for an unavailable ledger.
const BuildTimeout = 800 * time.Millisecond

// FallbackCache is a cache of responses with fallback copies. A copy is served if the cached response has expired and the source
// is unavailable.
type FallbackCache struct {
	Pages, Copies *httpcache.Cache
	source        string // value of the header X-Degraded of a copy; empty: httpx.Source of the error
	log           *slog.Logger
}

// Caches creates caches and closes all of them in Close.
type Caches struct {
	Log    *slog.Logger
	Now    func() time.Time
	Shared *httpcache.Shared // second level of the caches of OpenShared; nil: all caches are those of this process

	closers []func()
}

// Every returns the options of a cache. A response is refreshed after ttl. During the refresh, the old response is served for up
// to stale longer. keys is the maximum number of cached responses.
func Every(ttl, stale time.Duration, keys int) httpcache.Options {
	return httpcache.Options{TTL: ttl, Stale: stale, Timeout: BuildTimeout, MaxKeys: keys}
}

// Open returns an empty cache of this process. It logs failed builds, except not_found errors and uncacheable responses.
func (b *Caches) Open(o httpcache.Options) *httpcache.Cache { return b.add(httpcache.New(b.logged(o))) }

// OpenShared is like Open, but all hubs share the responses. They must be the same for every caller. name identifies the cache in
// Redis and in metrics.
func (b *Caches) OpenShared(name string, o httpcache.Options) *httpcache.Cache {
	return b.add(b.Shared.Open(name, b.logged(o)))
}

func (b *Caches) logged(o httpcache.Options) httpcache.Options {
	o.Now = b.Now
	o.Failed = func(key string, err error) {
		var p *UncacheableError
		if !errors.As(err, &p) && apperr.Of(err).Kind != apperr.NotFound {
			b.Log.Warn("cache build failed", "key", strings.ReplaceAll(key, "\x00", " "), "error", err)
		}
	}
	return o
}

func (b *Caches) add(book *httpcache.Cache) *httpcache.Cache {
	b.OnClose(book.Close)
	return book
}

// OnClose registers the function end. Close calls all registered functions.
func (b *Caches) OnClose(end func()) { b.closers = append(b.closers, end) }

// Close closes all caches: it cancels running builds and waits until they have ended.
func (b *Caches) Close() {
	for _, end := range b.closers {
		end()
	}
}

// WithFallback returns an empty shared cache, as OpenShared, with fallback copies. age is the maximum age of a copy, and copies
// is the maximum number of copies. source is the value of the header X-Degraded of a fallback copy; if it is empty, the
// value is httpx.Source of the error.
func (b *Caches) WithFallback(name string, o httpcache.Options, age time.Duration, copies int, source string) FallbackCache {
	last := httpcache.Options{TTL: age, MaxKeys: copies, Now: b.Now}
	if b.Shared != nil {
		last.IfError = age // a hub uses the copy that it has if Redis is unavailable too
	}
	return FallbackCache{
		Pages: b.OpenShared(name, o), Copies: b.add(b.Shared.Open(name+"-copy", last)), source: source, log: b.Log,
	}
}

// StoreCopy replaces the fallback copy of the response with the given key.
func (b FallbackCache) StoreCopy(key string, body []byte) { b.Copies.Put(key, body) }

// errNoCopy is the error of a missing fallback copy.
var errNoCopy = errors.New("no fallback copy")

// copyOf returns the fallback copy of the response with the given key, or nil if there is none.
func (b FallbackCache) copyOf(ctx context.Context, key string) *httpcache.Page {
	last, _ := b.Copies.Get(ctx, key, func(context.Context) ([]byte, error) { return nil, errNoCopy })
	return last
}

// UncacheableError contains a response that is sent but not cached, because it is empty or a part of it is missing. The cache
// handles it as a failed build, so the next request builds the response again.
type UncacheableError struct {
	Page   *httpcache.Page
	Source string // name of the unavailable source; empty: the response is empty
}

func (p *UncacheableError) Error() string {
	if p.Source == "" {
		return "answer is empty"
	}
	return "answer is degraded: " + p.Source
}

// Answer is the value of a response before encoding. The response is cached only if it is complete and not empty.
type Answer struct {
	Value   any
	Missing string // name of the unavailable source in the header X-Degraded; empty: the value is complete
	Empty   bool   // the value is empty, so it must not be cached for long
}

// WithoutFollows returns the value of Answer.Missing after reading follower counts: "follows" if err is not nil, otherwise "".
func WithoutFollows(err error) string {
	if err == nil {
		return ""
	}
	return "follows"
}

// Marshal returns the JSON text of the answer a. If err is not nil, Marshal returns err. If the response must not be cached, the
// returned error is an UncacheableError that contains the text.
func Marshal(a Answer, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	body, err := httpx.Marshal(a.Value)
	if err != nil || a.Missing == "" && !a.Empty {
		return body, err
	}
	return nil, &UncacheableError{Page: httpcache.Make(body), Source: a.Missing}
}

// Serve sends the cached response of a key. If there is none, it calls the function build and caches the result. It also sends a
// response that must not be cached.
func Serve(c echo.Context, book *httpcache.Cache, key string, build httpcache.Build) error {
	err := book.Serve(c.Response(), c.Request(), key, build)
	var p *UncacheableError
	if !errors.As(err, &p) {
		return err
	}
	if p.Source == "" {
		c.Response().Header().Set("Cache-Control", cacheEmpty)
	} else {
		httpx.Degrade(c, p.Source)
	}
	p.Page.WriteTo(c.Response(), c.Request())
	return nil
}

// Serve sends the cached response of a key, or builds it. If the build fails, it sends the fallback copy, or the result of the
// function empty if there is no copy. In these two cases, the response is marked as degraded and not cached.
func (b FallbackCache) Serve(c echo.Context, key string, build httpcache.Build, empty func() any) error {
	w, r := c.Response(), c.Request()
	err := Serve(c, b.Pages, key, build)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	httpx.Degrade(c, cmp.Or(b.source, httpx.Source(err)))
	b.log.WarnContext(r.Context(), "stale or empty response served", "route", c.Path(), "code", apperr.Of(err).Code, "error", err)
	if last := b.copyOf(r.Context(), key); last != nil {
		last.WriteTo(w, r)
		return nil
	}
	return httpx.OK(c, empty())
}

// Query is a normalized query of a cached read. Queries with equal keys have equal responses.
type Query interface{ Key() string }

// TextQuery is a Query whose parameters are strings.
type TextQuery []string

// Key implements Query.
func (q TextQuery) Key() string { return httpcache.JoinKey(q...) }

// Read is a cached GET route. Its method Handle and Server.front of package httpapi use the same cache and the same keys.
type Read[Q Query] struct {
	Pages FallbackCache
	Parse func(rawQuery string) Q
	// Build returns the response to a query.
	Build func(ctx context.Context, q Q) (Answer, error)
	// NoCopies is set if Build stores the fallback copies itself, or if there are none. Otherwise each response is also stored as a
	// fallback copy.
	NoCopies bool
	// Empty returns the response if Build fails and there is no fallback copy.
	Empty func(Q) any
}

// Book returns the cache that contains the responses of the route.
func (r Read[Q]) Book() *httpcache.Cache { return r.Pages.Pages }

// Key returns the cache key of a query string. Query strings with equal parsed queries have equal keys.
func (r Read[Q]) Key(rawQuery string) string { return r.Parse(rawQuery).Key() }

// Handle serves a request with the cached or newly built response to its query.
func (r Read[Q]) Handle(c echo.Context) error {
	q := r.Parse(c.Request().URL.RawQuery)
	if r.Pages.Copies == nil {
		return Serve(c, r.Book(), q.Key(), r.build(q))
	}
	return r.Pages.Serve(c, q.Key(), r.build(q), func() any { return r.Empty(q) })
}

// EmptyFor returns the response to a request while a dependency is unavailable.
func (r Read[Q]) EmptyFor(c echo.Context) any { return r.Empty(r.Parse(c.Request().URL.RawQuery)) }

// Body returns the JSON text that Handle would send for a query. MCP tools use it.
func (r Read[Q]) Body(ctx context.Context, q Q) ([]byte, error) {
	body, err := BodyOf(ctx, r.Book(), q.Key(), r.build(q))
	if err == nil || ctx.Err() != nil || r.Pages.Copies == nil {
		return body, err
	}
	if last := r.Pages.copyOf(ctx, q.Key()); last != nil {
		return last.Body(), nil
	}
	return httpx.Marshal(r.Empty(q))
}

func (r Read[Q]) build(q Q) httpcache.Build {
	return func(ctx context.Context) ([]byte, error) {
		body, err := Marshal(r.Build(ctx, q))
		if err != nil || r.NoCopies || r.Pages.Copies == nil {
			return body, err
		}
		r.Pages.StoreCopy(q.Key(), body)
		return body, nil
	}
}

// BodyOf returns the JSON text of the cached response of a key, or builds it. It also returns a response that must not be cached.
func BodyOf(ctx context.Context, book *httpcache.Cache, key string, build httpcache.Build) ([]byte, error) {
	p, err := book.Get(ctx, key, build)
	var uncacheable *UncacheableError
	switch {
	case errors.As(err, &uncacheable):
		return uncacheable.Page.Body(), nil
	case err != nil:
		return nil, err
	}
	return p.Body(), nil
}

// Cache-Control values that several handler packages use.
const (
	CacheClaimed = "public, s-maxage=300"
	cacheEmpty   = "public, s-maxage=1" // an empty response, which may soon have content
	CachePrivate = "private, no-store"
	CacheNever   = "no-store"
)
