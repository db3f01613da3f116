package httpapi

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

type handlers struct {
	desk *program.Service
	book *httpcache.Cache
	now  func() time.Time
}

func (h *handlers) timeline(c echo.Context) error {
	return h.show(c, program.Request{})
}

func (h *handlers) channel(c echo.Context) error {
	return h.show(c, program.Request{Preset: c.QueryParam("preset"), Spec: c.QueryParam("spec")})
}

// errEmpty keeps a programme with nothing in it out of the book.
var errEmpty = errors.New("the programme is empty")

// show answers with a channel. A whole one comes from the book, where its bytes
// are ready; one that a failed source makes less than whole is never kept, and
// one with nothing in it, as before the first filling, only for a second.
func (h *handlers) show(c echo.Context, r program.Request) error {
	p, err := h.desk.Program(r)
	if err != nil {
		return err
	}
	limit := protocol.Limit(c.QueryParam("limit"), program.DefaultLimit, program.MaxLimit)
	if p.Degraded == "" && p.Total > 0 {
		err := h.book.Serve(c.Response(), c.Request(), bookKey(p.Channel, limit), h.build(r, limit))
		if !errors.Is(err, errEmpty) { // emptied since it was looked at, or filled just now
			return err
		}
		if p, err = h.desk.Program(r); err != nil {
			return err
		}
	}
	if p.Degraded == "" {
		c.Response().Header()["Cache-Control"] = []string{cacheEmpty}
	} else if err := h.mark(c, p.Degraded, p.Total > 0); err != nil {
		return err
	}
	body, err := encodeProgram(p.Cut(limit))
	if err != nil {
		return err
	}
	httpcache.Make(body).WriteTo(c.Response(), c.Request())
	return nil
}

func bookKey(channel string, limit int) string { return channel + "|" + strconv.Itoa(limit) }

// build reads the channel anew, since the book builds a page again by itself.
func (h *handlers) build(r program.Request, limit int) httpcache.Build {
	return func(context.Context) ([]byte, error) {
		p, err := h.desk.Program(r)
		if err != nil {
			return nil, err
		}
		switch {
		case p.Degraded != "":
			return nil, program.ErrNoProgram.With("source", p.Degraded)
		case p.Total == 0:
			return nil, errEmpty
		}
		return encodeProgram(p.Cut(limit))
	}
}

// mark says in the answer that a source failed. An answer with nothing in it
// becomes the error that the route's graceful-empty rule takes up.
func (h *handlers) mark(c echo.Context, source string, something bool) error {
	if !something {
		return program.ErrNoProgram.With("source", source)
	}
	httpx.Degrade(c, source)
	return nil
}

func (h *handlers) nowOn(c echo.Context) error {
	return h.onAir(c, h.desk.Now(c.QueryParam("preset"), c.QueryParam("lane")))
}

func (h *handlers) nextOn(c echo.Context) error {
	return h.onAir(c, h.desk.Next(c.QueryParam("preset"), c.QueryParam("lane")))
}

func (h *handlers) onAir(c echo.Context, on program.OnAir) error {
	if on.Degraded != "" {
		if err := h.mark(c, on.Degraded, on.Segment != nil); err != nil {
			return err
		}
	} else if left := on.Until.Sub(h.now()); left < 5*time.Second {
		c.Response().Header()["Cache-Control"] = []string{"public, s-maxage=" + strconv.Itoa(max(0, int(left/time.Second)))}
	}
	out := openapi.SegmentAnswer{GeneratedAt: protocol.Stamp(on.At)}
	if on.Segment != nil {
		out.Segment = segmentOf(on.Segment)
	}
	body, err := httpx.Marshal(out)
	if err != nil {
		return err
	}
	httpcache.Make(body).WriteTo(c.Response(), c.Request())
	return nil
}

func (h *handlers) emptyProgram() any {
	return openapi.ClockProgram{GeneratedAt: protocol.Stamp(h.now()), Lanes: []openapi.ProgramLane{}, Segments: []openapi.Segment{}}
}

func (h *handlers) emptySegment() any {
	return openapi.SegmentAnswer{GeneratedAt: protocol.Stamp(h.now())}
}
