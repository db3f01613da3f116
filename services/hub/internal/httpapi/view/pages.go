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

// Times of pages. A page of the feed or of a board is built again once a second. Copies replace the pages of a clock or a ledger
// that is unavailable.
const (
	QuickTTL = time.Second

	ProgramTTL   = 30 * time.Second
	ProgramStale = 30 * time.Second
	ProgramLast  = 5 * time.Minute

	MovingTTL   = 10 * time.Second
	MovingStale = 20 * time.Second
)

// BuildTimeout bounds the build of a page, so that no reader waits for a ledger that does not answer.
const BuildTimeout = 800 * time.Millisecond

// Covered is a book of pages with a book of copies, which replace the pages of a source that is unavailable for longer than
// the pages themselves may be served.
type Covered struct {
	Pages, Copies *httpcache.Cache
	source        string // named as unavailable; empty: the one that the fault names
	log           *slog.Logger
}

// Books makes caches of pages, and closes them together.
type Books struct {
	Log *slog.Logger
	Now func() time.Time

	opened []func()
}

// Every returns the options of pages that are built again after ttl, and served for stale longer meanwhile.
func Every(ttl, stale time.Duration, keys int) httpcache.Options {
	return httpcache.Options{TTL: ttl, Stale: stale, Timeout: BuildTimeout, MaxKeys: keys}
}

// Open returns an empty book. It logs failed builds, except unknown names and pages that pass.
func (b *Books) Open(o httpcache.Options) *httpcache.Cache {
	o.Now = b.Now
	o.Failed = func(key string, err error) {
		var p *Passing
		if !errors.As(err, &p) && apperr.Of(err).Kind != apperr.NotFound {
			b.Log.Warn("page not built", "key", strings.ReplaceAll(key, "\x00", " "), "error", err)
		}
	}
	return b.add(httpcache.New(o))
}

func (b *Books) add(book *httpcache.Cache) *httpcache.Cache {
	b.OnClose(book.Close)
	return book
}

// OnClose makes Close call end.
func (b *Books) OnClose(end func()) { b.opened = append(b.opened, end) }

// Close ends builds and waits for them.
func (b *Books) Close() {
	for _, end := range b.opened {
		end()
	}
}

// Covered returns an empty book whose pages are replaced by copies of at most that age and number. source is what the answer
// names as unavailable; empty: what the fault names.
func (b *Books) Covered(o httpcache.Options, age time.Duration, copies int, source string) Covered {
	last := b.add(httpcache.New(httpcache.Options{TTL: age, MaxKeys: copies, Now: b.Now}))
	return Covered{Pages: b.Open(o), Copies: last, source: source, log: b.Log}
}

// Keep replaces the copy of a page.
func (b Covered) Keep(ctx context.Context, key string, body []byte) error {
	b.Copies.Drop(key)
	_, err := b.Copies.Get(ctx, key, func(context.Context) ([]byte, error) { return body, nil })
	return err
}

// Passing is a page that may be answered and must not be stored, because a part is missing or it is empty. For a book it is a
// failed build, so that its pages stay complete and the source is read about once a second.
type Passing struct {
	Page   *httpcache.Page
	Source string // failed source; empty: the page is empty
}

func (p *Passing) Error() string {
	if p.Source == "" {
		return "the page is empty"
	}
	return "the page is degraded: " + p.Source
}

// Answer is the value of a query. An incomplete or empty one is answered but not cached.
type Answer struct {
	Value   any
	Missing string // source without which the value is incomplete, as X-Degraded names it; empty: it is complete
	Empty   bool   // the value is empty and must be read again soon
}

// WithoutFollows returns the source of an answer whose followers could not be counted with err; empty for nil.
func WithoutFollows(err error) string {
	if err == nil {
		return ""
	}
	return "follows"
}

// OrPassing returns the page of an answer, or err if it is not nil. An incomplete or empty answer passes and is not stored.
func OrPassing(a Answer, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	body, err := httpx.Marshal(a.Value)
	if err != nil || a.Missing == "" && !a.Empty {
		return body, err
	}
	return nil, &Passing{Page: httpcache.Make(body), Source: a.Missing}
}

// Serve answers with the page of a key, also with one that passes.
func Serve(c echo.Context, book *httpcache.Cache, key string, build httpcache.Build) error {
	err := book.Serve(c.Response(), c.Request(), key, build)
	var p *Passing
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

// Serve answers with the page of a key. When the page cannot be built, it answers with a copy, and without one with the empty
// value; no cache stores either.
func (b Covered) Serve(c echo.Context, key string, build httpcache.Build, empty func() any) error {
	w, r := c.Response(), c.Request()
	err := Serve(c, b.Pages, key, build)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	httpx.Degrade(c, cmp.Or(b.source, httpx.Source(err)))
	b.log.WarnContext(r.Context(), "serving stale or empty page", "route", c.Path(), "code", apperr.Of(err).Code, "error", err)
	if last := b.Copies.Peek(key); last != nil {
		last.WriteTo(w, r)
		return nil
	}
	return httpx.OK(c, empty())
}

// Query is the normal form of the query of a cached read. Queries with the same key have the same answer.
type Query interface{ Key() string }

// Words is a Query of texts.
type Words []string

// Key returns the texts as one.
func (q Words) Key() string { return httpcache.JoinKey(q...) }

// Read is a cached read. Its handler and the front of the router find the same pages under the same keys.
type Read[Q Query] struct {
	Pages Covered
	Parse func(rawQuery string) Q
	// Build returns the answer to a query.
	Build func(ctx context.Context, q Q) (Answer, error)
	// Uncopied: Build makes the copies, or there are none. Otherwise pages are copied as they are.
	Uncopied bool
	// Empty returns the answer while Build fails and there is no copy.
	Empty func(Q) any
}

// Book returns the cache of the pages.
func (r Read[Q]) Book() *httpcache.Cache { return r.Pages.Pages }

// Key returns the key of the page of a query.
func (r Read[Q]) Key(rawQuery string) string { return r.Parse(rawQuery).Key() }

// Handle is the handler of the read.
func (r Read[Q]) Handle(c echo.Context) error {
	q := r.Parse(c.Request().URL.RawQuery)
	if r.Pages.Copies == nil {
		return Serve(c, r.Book(), q.Key(), r.build(q))
	}
	return r.Pages.Serve(c, q.Key(), r.build(q), func() any { return r.Empty(q) })
}

// EmptyFor returns the empty value of a request.
func (r Read[Q]) EmptyFor(c echo.Context) any { return r.Empty(r.Parse(c.Request().URL.RawQuery)) }

// Body returns what Handle answers to a query, also a page that passes.
func (r Read[Q]) Body(ctx context.Context, q Q) ([]byte, error) {
	body, err := BodyOf(ctx, r.Book(), q.Key(), r.build(q))
	if err == nil || ctx.Err() != nil || r.Pages.Copies == nil {
		return body, err
	}
	if last := r.Pages.Copies.Peek(q.Key()); last != nil {
		return last.Body(), nil
	}
	return httpx.Marshal(r.Empty(q))
}

func (r Read[Q]) build(q Q) httpcache.Build {
	return func(ctx context.Context) ([]byte, error) {
		body, err := OrPassing(r.Build(ctx, q))
		if err != nil || r.Uncopied || r.Pages.Copies == nil {
			return body, err
		}
		return body, r.Pages.Keep(ctx, q.Key(), body)
	}
}

// BodyOf returns the body of the page of a key, also of one that passes.
func BodyOf(ctx context.Context, book *httpcache.Cache, key string, build httpcache.Build) ([]byte, error) {
	p, err := book.Get(ctx, key, build)
	var part *Passing
	switch {
	case errors.As(err, &part):
		return part.Page.Body(), nil
	case err != nil:
		return nil, err
	}
	return p.Body(), nil
}

// Cache rules that the table of routes and handlers use.
const (
	CacheClaimed = "public, s-maxage=300"
	cacheEmpty   = "public, s-maxage=1" // of an empty page, which is soon filled
	CachePrivate = "private, no-store"
	CacheNever   = "no-store"
)
