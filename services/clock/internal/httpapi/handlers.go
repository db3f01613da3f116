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
	programs *program.Service
	pages    *httpcache.Cache
	now      func() time.Time
	read     func(echo.HandlerFunc) echo.HandlerFunc // see reader.Guard.Read
}

func (h *handlers) timeline(c echo.Context) error {
	return h.serve(c, program.Request{})
}

func (h *handlers) channel(c echo.Context) error {
	return h.serve(c, program.Request{Preset: c.QueryParam("preset"), Spec: c.QueryParam("spec")})
}

// errEmpty is the error for an empty programme. It prevents the page cache from storing the programme.
var errEmpty = errors.New("the programme is empty")

// serve writes the programme of a channel. A complete programme comes from the page cache. A degraded programme is never cached.
// An empty programme, which exists before the slots are first filled, may be stored by shared caches for one second.
func (h *handlers) serve(c echo.Context, r program.Request) error {
	p, err := h.programs.Program(r)
	if err != nil {
		return err
	}
	limit := protocol.Limit(c.QueryParam("limit"), program.DefaultLimit, program.MaxLimit)
	if p.Degraded == "" && p.Total > 0 {
		err := h.pages.Serve(c.Response(), c.Request(), pageKey(p.Channel, limit), h.build(r, limit))
		if !errors.Is(err, errEmpty) { // otherwise the programme became empty after the check above
			return err
		}
		if p, err = h.programs.Program(r); err != nil {
			return err
		}
	}
	if p.Degraded == "" {
		c.Response().Header()["Cache-Control"] = []string{cacheEmpty}
	} else if err := h.markDegraded(c, p.Degraded, p.Total > 0); err != nil {
		return err
	}
	body, err := EncodeProgram(p.Cut(limit))
	if err != nil {
		return err
	}
	httpcache.Make(body).WriteTo(c.Response(), c.Request())
	return nil
}

func pageKey(channel string, limit int) string { return channel + "|" + strconv.Itoa(limit) }

// build returns the function that builds a page for the page cache. This function reads the programme each time, because the
// cache also rebuilds pages in the background.
func (h *handlers) build(r program.Request, limit int) httpcache.Build {
	return func(context.Context) ([]byte, error) {
		p, err := h.programs.Program(r)
		if err != nil {
			return nil, err
		}
		switch {
		case p.Degraded != "":
			return nil, program.ErrNoProgram.With("source", p.Degraded)
		case p.Total == 0:
			return nil, errEmpty
		}
		return EncodeProgram(p.Cut(limit))
	}
}

// markDegraded marks the response as degraded. source is the source that failed. If nonEmpty is false, markDegraded returns
// an error instead, and the router writes the empty value of the route.
func (h *handlers) markDegraded(c echo.Context, source string, nonEmpty bool) error {
	if !nonEmpty {
		return program.ErrNoProgram.With("source", source)
	}
	httpx.Degrade(c, source)
	return nil
}

func (h *handlers) currentSegment(c echo.Context) error {
	return h.onAir(c, h.programs.Now(c.QueryParam("preset"), c.QueryParam("lane")))
}

func (h *handlers) nextSegment(c echo.Context) error {
	return h.onAir(c, h.programs.Next(c.QueryParam("preset"), c.QueryParam("lane")))
}

// onAir writes one segment. Unless the response is degraded, a cache may store it until the next segment boundary, but for at
// most five seconds.
func (h *handlers) onAir(c echo.Context, on program.OnAir) error {
	if on.Degraded != "" {
		if err := h.markDegraded(c, on.Degraded, on.Segment != nil); err != nil {
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
