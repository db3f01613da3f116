package edge

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// pageLife is how long a ready page is served as it is, pageStale for how
	// much longer while the next one is made.
	pageLife  = time.Second
	pageStale = 4 * time.Second
	// maxHotQuery is the length of a query that a ready page can have.
	maxHotQuery = 256
	// maxPages bounds the ready pages: presets, specs and limits.
	maxPages = 512
	// limitWindow is the window of the limit per address.
	limitWindow = time.Minute
)

// Config of the face. Desk, Log and Now are needed; the hooks may be nil.
type Config struct {
	Desk    *program.Service
	Health  *web.Health
	Log     *slog.Logger
	Now     func() time.Time
	Trusted []netip.Prefix
	PerAddr int // requests of one address in any minute, 0: no limit

	Observe  func(method, route string, status int, took time.Duration)
	Degraded func(route, source string)
	Count    func(method, route string, status int) func() // of answers from ready pages
	Trace    func(http.Handler) http.Handler               // around the router; ready pages are answered before it
}

// Edge is the HTTP face.
type Edge struct {
	handler http.Handler
	router  *web.Edge
	book    *page.Book
}

// New builds the face; Close ends it.
func New(cfg Config) *Edge {
	book := page.New(page.Options{
		TTL: pageLife, Stale: pageStale, MaxKeys: maxPages, Now: cfg.Now,
		Failed: func(key string, err error) { cfg.Log.Warn("page not built", "page", key, "error", err) },
	})
	h := &handlers{desk: cfg.Desk, book: book, now: cfg.Now}
	router := web.New(web.Config{
		Log: cfg.Log, Now: cfg.Now, Trusted: cfg.Trusted, Health: cfg.Health, Probes: web.Open,
		Observe: cfg.Observe, Degraded: cfg.Degraded,
	})
	addr := newAddrLimit(cfg)
	router.Use(addr.middleware)
	web.Mount(router, h.routes())
	var next http.Handler = router
	if cfg.Trace != nil {
		next = cfg.Trace(router)
	}
	front := page.NewFront(next, page.FrontOptions{Allow: addr.allow, Count: cfg.Count},
		hot(book, "/program/timeline", func(string) program.Preset { return program.Default }),
		hot(book, "/program/channel", program.ParsePreset),
	)
	return &Edge{handler: front, router: router, book: book}
}

// ServeHTTP implements http.Handler.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// Table lists the routes, for tests and the route listing.
func (e *Edge) Table() []web.Route { return e.router.Table() }

// Close ends page builds that run and waits for them.
func (e *Edge) Close() { e.book.Close() }

// hot answers a preset's ready page before the router runs; a spec goes on.
func hot(book *page.Book, pattern string, preset func(string) program.Preset) page.Hot {
	header := web.Open.Headers()
	header.Set("Cache-Control", cacheProgram)
	params := []page.Param{
		{Name: "preset", Clean: func(raw string) string { return string(preset(raw)) }},
		{Name: "limit", Clean: func(raw string) string {
			return strconv.Itoa(syntax.Limit(raw, program.DefaultLimit, program.MaxLimit))
		}},
		{Name: "spec", Clean: func(raw string) string { return raw }},
	}
	return page.Hot{Pattern: pattern, Book: book, Header: header, Key: func(_, raw string) (string, bool) {
		if len(raw) > maxHotQuery {
			return "", false
		}
		q := page.Query(raw, params)
		return q[0] + "|" + q[1], q[2] == ""
	}}
}

// addrLimit counts requests by address.
type addrLimit struct {
	local   *limit.Local
	trusted []netip.Prefix
}

func newAddrLimit(cfg Config) *addrLimit {
	return &addrLimit{local: limit.NewLocal("addr", cfg.PerAddr, limitWindow, cfg.Now), trusted: cfg.Trusted}
}

func (a *addrLimit) ask(r *http.Request) limit.Decision {
	peer := web.Peer(r, a.trusted)
	if ip, err := netip.ParseAddr(peer); err == nil {
		peer = limit.AddrKey(ip)
	}
	return a.local.Allow(peer)
}

// allow is the limit for ready pages, which pass no middleware; it gives the
// answer its request id as well.
func (a *addrLimit) allow(w http.ResponseWriter, r *http.Request) bool {
	d := a.ask(r)
	h := w.Header()
	d.SetHeaders(h)
	id := r.Header.Get("X-Request-Id")
	if uuid.Validate(id) != nil || len(id) != 36 {
		id = uuid.Must(uuid.NewV7()).String()
	}
	h["X-Request-Id"] = []string{id}
	return d.Allowed
}

func (a *addrLimit) middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		d := a.ask(c.Request())
		d.SetHeaders(c.Response().Header())
		if err := d.Fault(); err != nil {
			return err
		}
		return next(c)
	}
}

// Cache rules of the programme.
const (
	cacheProgram = "public, s-maxage=30, stale-while-revalidate=60"
	cacheEmpty   = "public, s-maxage=1" // of a programme with nothing in it, which is soon filled
	cacheNow     = "public, s-maxage=5" // shortened so that it never passes the next boundary
)

var public = []string{"public"}

// routes is the list of everything that the clock serves. None takes a credential.
func (h *handlers) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/program/timeline", Who: public, CORS: web.Open, Cache: cacheProgram, Handler: web.Anonymous(h.timeline), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/channel", Who: public, CORS: web.Open, Cache: cacheProgram, Handler: web.Anonymous(h.channel), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/now", Who: public, CORS: web.Open, Cache: cacheNow, Handler: web.Anonymous(h.nowOn), Empty: h.emptySegment},
		{Method: http.MethodGet, Path: "/program/next", Who: public, CORS: web.Open, Cache: cacheNow, Handler: web.Anonymous(h.nextOn), Empty: h.emptySegment},
	}
}
