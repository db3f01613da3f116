package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// program answers with the clock's programme. Without a clock the programme is
// off. One that is away is covered by a copy of the last minutes, and then the
// programme is off, too; no cache keeps either.
func (s *server) program(c echo.Context, q program.Query) error {
	off := func() any { return openapi.ProgramOff{} }
	if s.Programs == nil {
		return web.OK(c, off())
	}
	key := programKey(q)
	return s.covered(c, s.programs, key, s.buildProgram(q, key), off)
}

// programBody is the same programme for who is not answered by a page.
func (s *server) programBody(ctx context.Context, q program.Query) ([]byte, error) {
	if s.Programs == nil {
		return web.Marshal(openapi.ProgramOff{})
	}
	key := programKey(q)
	body, err := bodyOf(ctx, s.programs.pages, key, s.buildProgram(q, key))
	if err == nil || ctx.Err() != nil {
		return body, err
	}
	if last := s.programs.copies.Peek(key); last != nil {
		return last.Body(), nil
	}
	return web.Marshal(openapi.ProgramOff{})
}

// buildProgram makes the page of a query and keeps a copy for when the clock is
// away. One that the clock calls degraded passes, and so does an empty one, which
// is soon filled.
func (s *server) buildProgram(q program.Query, key string) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		answer, err := s.Programs.GetProgram(ctx, q.Request())
		if err != nil {
			return nil, err
		}
		p := answer.GetProgram()
		body, err := web.Marshal(showProgram(p, q.Lanes))
		if err != nil {
			return nil, err
		}
		if p.GetDegraded() != "" || p.GetTotal() == 0 {
			return nil, &passing{page: page.Make(body), source: p.GetDegraded()}
		}
		return body, s.programs.keep(ctx, key, body)
	}
}
