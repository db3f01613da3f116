package httpx

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Route is one line of a service's routes.go: everything that a reader of the
// list must know about it.
type Route struct {
	Method string
	Path   string   // Echo pattern, /api/m/:id
	Who    []string // who may call; read by people and tests
	// Permission is what a strict operator key needs; empty where no key is taken.
	Permission string
	CORS       CORS
	Cache      string // Cache-Control of a successful GET; empty is no-store
	Handler    echo.HandlerFunc

	// Empty gives the graceful-empty rule to a list read: when its source
	// fails, the answer is 200 with this value. EmptyFor is the same for
	// shapes that repeat something of the request.
	Empty    func() any
	EmptyFor func(echo.Context) any

	// Timeout replaces the edge's time for one request; negative is none,
	// for sockets and streams.
	Timeout time.Duration
}

// path is the state that the routes of one path share.
type path struct {
	form   string          // the pattern without the names of its parameters
	class  map[string]CORS // by method, HEAD with GET
	allow  string
	proto  bool
	stream map[string]bool  // by method: answers that last, and are not timed
	bypass echo.HandlerFunc // answers before any other middleware
}

// Mount adds routes: each with its CORS class, cache rule, time limit and
// graceful-empty rule; HEAD beside each GET; OPTIONS and 405 with Allow on
// each path. It panics on a route that is mounted twice, at start and not in
// front of a caller.
func Mount(e *Router, routes []Route) {
	for _, rt := range routes {
		p := e.pathOf(rt.Path)
		if _, twice := p.class[rt.Method]; twice {
			panic("web: route mounted twice: " + rt.Method + " " + rt.Path)
		}
		p.class[rt.Method] = rt.CORS
		p.stream[rt.Method] = rt.Timeout < 0
		p.proto = p.proto || rt.CORS == Protocol
		h := e.handler(rt)
		e.Add(rt.Method, rt.Path, h)
		if rt.Method == http.MethodGet {
			p.class[http.MethodHead] = rt.CORS
			e.Add(http.MethodHead, rt.Path, h)
		}
		p.allow = allowed(p)
		e.table = append(e.table, rt)
	}
	e.standApart()
}

// standApart makes a path that a parameter of another one would match as well
// (/a/mine beside /a/:id) answer for the methods that it does not have: the router
// would take the caller to the other one.
func (e *Router) standApart() {
	for pattern, p := range e.paths {
		for other, o := range e.paths {
			if p == o || !covers(other, pattern) {
				continue
			}
			for method := range o.class {
				if _, own := p.class[method]; !own {
					e.Add(method, pattern, func(echo.Context) error { return echo.ErrMethodNotAllowed })
				}
			}
		}
	}
}

// covers reports whether the parameters of a pattern match another one.
func covers(general, special string) bool {
	g, s := strings.Split(general, "/"), strings.Split(special, "/")
	if len(g) != len(s) {
		return false
	}
	for i := range g {
		if g[i] != s[i] && (!strings.HasPrefix(g[i], ":") || strings.HasPrefix(s[i], ":")) {
			return false
		}
	}
	return true
}

// Table lists the mounted routes in order, for tests and the route listing.
func (e *Router) Table() []Route { return slices.Clone(e.table) }

// pathOf finds or makes the entry of a path. Patterns that differ in the names
// of parameters alone are one path.
func (e *Router) pathOf(pattern string) *path {
	if p := e.paths[pattern]; p != nil {
		return p
	}
	form := anonymous(pattern)
	for _, p := range e.paths {
		if p.form == form {
			e.paths[pattern] = p
			return p
		}
	}
	p := &path{form: form, class: make(map[string]CORS), stream: make(map[string]bool)}
	e.paths[pattern] = p
	e.Add(http.MethodOptions, pattern, func(c echo.Context) error {
		c.Response().Header()["Allow"] = []string{p.allow}
		return c.NoContent(http.StatusNoContent)
	})
	return p
}

func anonymous(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, s := range parts {
		if strings.HasPrefix(s, ":") {
			parts[i] = ":"
		}
	}
	return strings.Join(parts, "/")
}

func allowed(p *path) string {
	methods := []string{http.MethodOptions}
	for m := range p.class {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// handler wraps a route's handler with what its line says.
func (e *Router) handler(rt Route) echo.HandlerFunc {
	cache := noStore
	if rt.Cache != "" {
		cache = []string{rt.Cache}
	}
	return func(c echo.Context) error {
		if err := cleanParams(c); err != nil {
			return err
		}
		if m := c.Request().Method; m == http.MethodGet || m == http.MethodHead {
			c.Response().Header()["Cache-Control"] = cache
		}
		cancel := e.limitTime(c, rt.Timeout)
		defer cancel()
		err := safely(rt.Handler, c)
		if source := c.Response().Header().Get(degradedHeader); source != "" {
			e.cfg.Degraded(rt.Path, source)
		}
		if err == nil || rt.Empty == nil && rt.EmptyFor == nil {
			return err
		}
		return e.degrade(c, rt, err)
	}
}

// readTime is the time of a read: with what hangs behind it, it answers within a
// second what there is.
const readTime = 900 * time.Millisecond

// limitTime gives the request its deadline. A route with more time than usual
// moves the connection's own deadlines, too.
func (e *Router) limitTime(c echo.Context, own time.Duration) context.CancelFunc {
	r := c.Request()
	if own < 0 {
		rc := http.NewResponseController(c.Response())
		// A writer that cannot move its deadlines (a test recorder) has none.
		_ = rc.SetReadDeadline(time.Time{})
		_ = rc.SetWriteDeadline(time.Time{})
		return func() {}
	}
	limit := e.cfg.Timeout
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		limit = min(limit, readTime)
	}
	if own > 0 {
		limit = own
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	if end, ok := ctx.Deadline(); ok && own > e.cfg.Timeout {
		rc := http.NewResponseController(c.Response())
		_ = rc.SetWriteDeadline(end.Add(time.Second))
	}
	c.SetRequest(r.WithContext(ctx))
	return cancel
}

// degrade answers a failed list read with its empty value. Faults of the
// caller stay what they are; so does the departure of the caller.
func (e *Router) degrade(c echo.Context, rt Route, err error) error {
	f := faultOf(err)
	left := errors.Is(err, context.Canceled) && errors.Is(c.Request().Context().Err(), context.Canceled)
	if c.Response().Committed || left || f.Kind != apperr.Internal && f.Kind != apperr.Unavailable {
		return err
	}
	source := Source(err)
	e.logFailure(c, "answered empty", Status(f.Kind), err)
	e.cfg.Degraded(rt.Path, source)
	Degrade(c, source)
	if rt.EmptyFor != nil {
		return JSON(c, http.StatusOK, rt.EmptyFor(c))
	}
	return JSON(c, http.StatusOK, rt.Empty())
}

const degradedHeader = "X-Degraded"

// Degrade states in the answer that a source failed, and keeps caches from storing it. The edge counts the answer.
func Degrade(c echo.Context, source string) {
	h := c.Response().Header()
	h["Cache-Control"], h[degradedHeader] = noStore, []string{source}
}

// Source returns the name of what failed, for X-Degraded: the extra `source`, or the code without its ending, so
// db_unavailable is db, also when it was too slow. It is timeout if the time of the route was over before a source failed,
// and empty for nil.
func Source(err error) string {
	if err == nil {
		return ""
	}
	f := faultOf(err)
	if s, ok := f.Extra["source"].(string); ok && s != "" {
		return s
	}
	var blamed *apperr.Fault
	named := errors.As(err, &blamed) && blamed.Kind == apperr.Unavailable
	switch {
	case !named && errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case f.Kind == apperr.Internal:
		return "internal"
	}
	return strings.TrimSuffix(f.Code, "_unavailable")
}
