package edge

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/web"
)

// covered is a book of pages with a book of copies, which cover for a source that
// is away longer than the pages themselves may be shown.
type covered struct {
	pages, copies *page.Book
	source        string // what is named as away; empty: what the fault names
}

func newCovered(pages, copies page.Options, source string) covered {
	return covered{pages: page.New(pages), copies: page.New(copies), source: source}
}

// keep puts a copy in the place of the one before.
func (b covered) keep(ctx context.Context, key string, body []byte) error {
	b.copies.Drop(key)
	_, err := b.copies.Get(ctx, key, func(context.Context) ([]byte, error) { return body, nil })
	return err
}

func (b covered) close() {
	b.pages.Close()
	b.copies.Close()
}

// passing is a page that may be shown and must not be kept: a part of it is
// missing, or there is nothing in it yet. To the book it is a failed build, so
// that its pages stay whole and the source is asked about once a second.
type passing struct {
	page   *page.Page
	source string // that failed; empty: nothing did, the page is empty
}

func (p *passing) Error() string {
	if p.source == "" {
		return "the page is empty"
	}
	return "the page is degraded: " + p.source
}

// covered answers with the page of a key. When it cannot be built, a copy covers
// for it, and then the empty value; no cache keeps either.
func (s *server) covered(c echo.Context, b covered, key string, build page.Build, empty func() any) error {
	w, r := c.Response(), c.Request()
	err := b.pages.Serve(w, r, key, build)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	var p *passing
	if errors.As(err, &p) {
		if p.source == "" {
			w.Header().Set("Cache-Control", cacheEmpty)
		} else {
			s.markDegraded(c, p.source)
		}
		p.page.WriteTo(w, r)
		return nil
	}
	source := b.source
	if source == "" {
		source = web.Source(err)
	}
	s.markDegraded(c, source)
	s.Log.WarnContext(r.Context(), "page is covered for", "route", c.Path(), "code", fault.Of(err).Code, "error", err)
	if last := b.copies.Peek(key); last != nil {
		last.WriteTo(w, r)
		return nil
	}
	return web.OK(c, empty())
}

// markDegraded says that a source failed and lets no cache keep the answer.
func (s *server) markDegraded(c echo.Context, source string) {
	h := c.Response().Header()
	h.Set("Cache-Control", cacheNever)
	h.Set("X-Degraded", source)
	s.Degraded(c.Path(), source)
}

// bodyOf is the page of a key as it is sent, one that may only be shown as well.
func bodyOf(ctx context.Context, book *page.Book, key string, build page.Build) ([]byte, error) {
	p, err := book.Get(ctx, key, build)
	var part *passing
	switch {
	case errors.As(err, &part):
		return part.page.Body(), nil
	case err != nil:
		return nil, err
	}
	return p.Body(), nil
}
