package httpx

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Route describes one route of a service: method, path, access, and the rules for CORS, caching, errors and time.
type Route struct {
	Method string
	Path   string   // pattern of Echo, such as /api/m/:id
	Who    []string // kinds of callers, for documentation and tests
	// Permission is the permission that a strict operator key needs. It is empty if the route accepts no key.
	Permission string
	CORS       CORS
	Cache      string // Cache-Control of a successful GET; no-store if empty
	Handler    echo.HandlerFunc

	// Empty returns the value that a list read sends, with status 200 instead of an error, when its source fails.
	// EmptyFor is like Empty for a value that depends on the request.
	Empty    func() any
	EmptyFor func(echo.Context) any

	// Source is the name of the source that the route waits for. X-Degraded has it if the deadline of the request passes before
	// the source has failed; Config.Source if empty.
	Source string

	// Timeout replaces Config.Timeout for this route. A negative value means no timeout, for websockets and event
	// streams.
	Timeout time.Duration
}

// path contains the data that all routes of one path share, such as their CORS classes and the header Allow.
type path struct {
	form   string          // the pattern without parameter names
	class  map[string]CORS // by method; HEAD has the class of GET
	allow  string
	proto  bool
	stream map[string]bool  // by method: long-lived responses, which are not timed
	bypass echo.HandlerFunc // answers before any other middleware; may be nil
}

// Mount adds routes, each with its CORS class, cache rule, timeout and empty value. A route for GET also answers HEAD. Each path
// also answers OPTIONS, and other methods with status 405 and the header Allow. Mount panics if a route is mounted twice, so that
// the error appears at start.
func Mount(e *Router, routes []Route) {
	for _, rt := range routes {
		p := e.pathOf(rt.Path)
		if _, twice := p.class[rt.Method]; twice {
			panic("httpx: route mounted twice: " + rt.Method + " " + rt.Path)
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
	e.addMissingMethods()
}

// addMissingMethods makes a fixed path (/a/mine) answer 405 for methods that only a parameter path (/a/:id) has.
// Otherwise Echo would route such a request to the parameter path.
func (e *Router) addMissingMethods() {
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

// covers reports whether the pattern general matches every path of the pattern special: general equals special, or has parameters
// in place of fixed segments.
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

// Table returns the routes in the order in which they were mounted, for tests and the list of GET /routes.
func (e *Router) Table() []Route { return slices.Clone(e.table) }

// pathOf returns the entry of a path and creates it if necessary. Patterns that differ only in parameter names share
// one entry.
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

// handler wraps the handler of a route with its cache rule, timeout and empty value.
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
		if c.Request().Header["Authorization"] != nil {
			c.Response().Before(func() { makePrivate(c.Response().Header()) })
		}
		cancel := e.limitTime(c, rt.Timeout)
		defer cancel()
		err := withRecover(rt.Handler, c)
		if source := c.Response().Header().Get(degradedHeader); source != "" {
			e.cfg.Degraded(rt.Path, source)
		}
		if err == nil || rt.Empty == nil && rt.EmptyFor == nil {
			return err
		}
		return e.degrade(c, rt, err)
	}
}

// makePrivate replaces public in Cache-Control by private and removes the directives for shared caches. A shared cache must not
// store the response to a request with a credential. Other values, such as no-store, remain.
func makePrivate(h http.Header) {
	rule := h.Get("Cache-Control")
	if !strings.HasPrefix(rule, "public") {
		return
	}
	out := []string{"private"}
	for part := range strings.SplitSeq(rule, ",") {
		part = strings.TrimSpace(part)
		name, _, _ := strings.Cut(part, "=")
		switch name {
		case "public", "s-maxage", "stale-while-revalidate":
		default:
			out = append(out, part)
		}
	}
	h["Cache-Control"] = []string{strings.Join(out, ", ")}
}

// readTime is the maximum timeout of a read, so that a read whose dependencies are slow still answers within one
// second.
const readTime = 900 * time.Millisecond

// limitTime sets the deadline of the request. own is Route.Timeout: 0 means the default timeout, and a negative value means no
// timeout. Without a timeout, or with one longer than the default, limitTime also changes the deadlines of the connection. The
// caller must call the returned function.
func (e *Router) limitTime(c echo.Context, own time.Duration) context.CancelFunc {
	r := c.Request()
	if own < 0 {
		rc := http.NewResponseController(c.Response())
		// A response writer without deadlines, as in tests, needs no change.
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

// degrade responds to a failed list read with status 200 and the empty value of the route. It returns err instead if the client
// has disconnected, if the response has started, or if err is neither an internal error nor an unavailability.
func (e *Router) degrade(c echo.Context, rt Route, err error) error {
	f := faultOf(err)
	left := errors.Is(err, context.Canceled) && errors.Is(c.Request().Context().Err(), context.Canceled)
	if c.Response().Committed || left || f.Kind != apperr.Internal && f.Kind != apperr.Unavailable {
		return err
	}
	source := Source(err)
	if source == timedOut {
		source = cmp.Or(rt.Source, e.cfg.Source, source)
	}
	e.logFailure(c, "answered empty", Status(f.Kind), err)
	e.cfg.Degraded(rt.Path, source)
	Degrade(c, source)
	if rt.EmptyFor != nil {
		return JSON(c, http.StatusOK, rt.EmptyFor(c))
	}
	return JSON(c, http.StatusOK, rt.Empty())
}

const (
	degradedHeader = "X-Degraded"
	timedOut       = "timeout" // no source has failed before the deadline of the request
)

// Degrade sets the header X-Degraded to the name of a failed source and Cache-Control to no-store. The router calls
// Config.Degraded for such a response.
func Degrade(c echo.Context, source string) {
	h := c.Response().Header()
	h["Cache-Control"], h[degradedHeader] = noStore, []string{source}
}

// Source returns the name of the failed source for X-Degraded: the extra member source, or the error code without the suffix
// _unavailable (db for db_unavailable). It returns "timeout" if the deadline of the request passed before a source failed,
// "internal" for an internal error, and "" for nil.
func Source(err error) string {
	if err == nil {
		return ""
	}
	f := faultOf(err)
	if s, ok := f.Extra["source"].(string); ok && s != "" {
		return s
	}
	var unavailable *apperr.Fault
	named := errors.As(err, &unavailable) && unavailable.Kind == apperr.Unavailable
	switch {
	case !named && errors.Is(err, context.DeadlineExceeded):
		return timedOut
	case f.Kind == apperr.Internal:
		return "internal"
	}
	return strings.TrimSuffix(f.Code, "_unavailable")
}
