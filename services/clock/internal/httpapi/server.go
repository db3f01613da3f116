package httpapi

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
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
	Health  *httpx.Health
	Log     *slog.Logger
	Now     func() time.Time
	Trusted []netip.Prefix
	PerAddr int // requests of one address in any minute, 0: no limit

	Observe  func(method, route string, status int, took time.Duration)
	Degraded func(route, source string)
	Count    func(method, route string, status int) func() // of answers from ready pages
	Trace    func(http.Handler) http.Handler               // around the router; ready pages are answered before it
}

// Server is the HTTP face.
type Server struct {
	handler http.Handler
	router  *httpx.Router
	book    *httpcache.Cache
}

// New builds the face; Close ends it.
func New(cfg Config) *Server {
	book := httpcache.New(httpcache.Options{
		TTL: pageLife, Stale: pageStale, MaxKeys: maxPages, Now: cfg.Now,
		Failed: func(key string, err error) { cfg.Log.Warn("page not built", "page", key, "error", err) },
	})
	h := &handlers{desk: cfg.Desk, book: book, now: cfg.Now}
	router := httpx.New(httpx.Config{
		Log: cfg.Log, Now: cfg.Now, Trusted: cfg.Trusted, Health: cfg.Health, Probes: httpx.Open,
		Observe: cfg.Observe, Degraded: cfg.Degraded,
	})
	addr := newAddrLimit(cfg)
	router.Use(addr.middleware)
	httpx.Mount(router, h.routes())
	var next http.Handler = router
	if cfg.Trace != nil {
		next = cfg.Trace(router)
	}
	front := httpcache.NewHandler(next, httpcache.HandlerOptions{Allow: addr.allow, Count: cfg.Count},
		hot(book, "/program/timeline", func(string) program.Preset { return program.Default }),
		hot(book, "/program/channel", program.ParsePreset),
	)
	return &Server{handler: front, router: router, book: book}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Table lists the routes, for tests and the route listing.
func (s *Server) Table() []httpx.Route { return s.router.Table() }

// Close ends page builds that run and waits for them.
func (s *Server) Close() { s.book.Close() }

// hot answers a preset's ready page before the router runs; a spec goes on.
func hot(book *httpcache.Cache, pattern string, preset func(string) program.Preset) httpcache.Hot {
	header := httpx.Open.Headers()
	header.Set("Cache-Control", cacheProgram)
	params := []httpcache.Param{
		{Name: "preset", Clean: func(raw string) string { return string(preset(raw)) }},
		{Name: "limit", Clean: func(raw string) string {
			return strconv.Itoa(protocol.Limit(raw, program.DefaultLimit, program.MaxLimit))
		}},
		{Name: "spec", Clean: func(raw string) string { return raw }},
	}
	return httpcache.Hot{Pattern: pattern, Cache: book, Header: header, Key: func(_, raw string) (string, bool) {
		if len(raw) > maxHotQuery {
			return "", false
		}
		q := httpcache.Query(raw, params)
		return q[0] + "|" + q[1], q[2] == ""
	}}
}

// addrLimit counts requests by address.
type addrLimit struct {
	local   *ratelimit.Local
	trusted []netip.Prefix
}

func newAddrLimit(cfg Config) *addrLimit {
	return &addrLimit{local: ratelimit.NewLocal("addr", cfg.PerAddr, limitWindow, cfg.Now), trusted: cfg.Trusted}
}

func (a *addrLimit) ask(r *http.Request) ratelimit.Decision {
	peer := httpx.Peer(r, a.trusted)
	if ip, err := netip.ParseAddr(peer); err == nil {
		peer = ratelimit.AddrKey(ip)
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
func (h *handlers) routes() []httpx.Route {
	return []httpx.Route{
		{Method: http.MethodGet, Path: "/program/timeline", Who: public, CORS: httpx.Open, Cache: cacheProgram, Handler: httpx.Anonymous(h.timeline), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/channel", Who: public, CORS: httpx.Open, Cache: cacheProgram, Handler: httpx.Anonymous(h.channel), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/now", Who: public, CORS: httpx.Open, Cache: cacheNow, Handler: httpx.Anonymous(h.nowOn), Empty: h.emptySegment},
		{Method: http.MethodGet, Path: "/program/next", Who: public, CORS: httpx.Open, Cache: cacheNow, Handler: httpx.Anonymous(h.nextOn), Empty: h.emptySegment},
	}
}
