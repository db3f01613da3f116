package edge

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// passing is a programme that may be shown and must not be kept: the clock
// called it degraded, or there is nothing in it yet. To the book it is a failed
// build, so that its pages stay whole and the clock is asked about once a second.
type passing struct {
	page   *page.Page
	source string // that failed the clock; empty: the programme is whole, and empty
}

func (p *passing) Error() string {
	if p.source == "" {
		return "the programme is empty"
	}
	return "the programme is degraded: " + p.source
}

// program answers with the clock's programme. Without a clock the programme is
// off. One that is away is covered by a copy of the last minutes, and then the
// programme is off, too; no cache keeps either.
func (s *server) program(c echo.Context, q program.Query) error {
	if s.clock == nil {
		return web.OK(c, programOffJSON{})
	}
	w, r, key := c.Response(), c.Request(), programKey(q)
	err := s.programs.Serve(w, r, key, s.buildProgram(q, key))
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
	s.markDegraded(c, "clock")
	s.log.WarnContext(r.Context(), "clock is away", "code", fault.Of(err).Code, "error", err)
	if last := s.lastPrograms.Peek(key); last != nil {
		last.WriteTo(w, r)
		return nil
	}
	return web.OK(c, programOffJSON{})
}

// buildProgram makes the page of a query and keeps a copy for when the clock is away.
func (s *server) buildProgram(q program.Query, key string) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		p, err := s.clock.Program(ctx, q)
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(showProgram(p, q.Lanes))
		if err != nil {
			return nil, err
		}
		if p.Degraded != "" || p.Total == 0 {
			return nil, &passing{page: page.Make(body, s.now()), source: p.Degraded}
		}
		s.lastPrograms.Drop(key)
		_, err = s.lastPrograms.Get(ctx, key, func(context.Context) ([]byte, error) { return body, nil })
		return body, err
	}
}

// markDegraded says that a source failed and lets no cache keep the answer.
func (s *server) markDegraded(c echo.Context, source string) {
	h := c.Response().Header()
	h.Set("Cache-Control", cacheNever)
	h.Set("X-Degraded", source)
	s.degraded(c.Path(), source)
}
