package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/reader"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// pageLife is the time for which a cached page is fresh. After that, the page is stale and is served for up to pageStale
	// while the next page is built.
	pageLife  = time.Second
	pageStale = 4 * time.Second
	// maxHotQuery is the maximum length of a query string for which the page cache is used before the router. Requests with longer
	// ones use the router.
	maxHotQuery = 256
	// maxPages is the maximum number of cached pages. Each combination of channel and limit has one page.
	maxPages = 512
	// PerCredential is the maximum number of requests of one credential in any minute, in each process.
	PerCredential = 120
	// limitWindow is the window of the rate limits.
	limitWindow = time.Minute
)

// Config contains the dependencies and settings of a Server. Observe, Degraded, Count and Trace may be nil.
type Config struct {
	Programs  *program.Service
	Health    *httpx.Health
	Log       *slog.Logger
	Now       func() time.Time
	Trusted   []netip.Prefix    // proxies whose X-Forwarded-For is used
	Shared    *httpcache.Shared // caches that all clocks share; nil: each clock has its own
	Addresses *ratelimit.Shared // limit per IP address
	Verify    reader.Verify     // verifies the credentials of public reads

	// ServedBy returns the base URL of the host of this installation that serves a path, or "". It may be nil.
	ServedBy func(path string) string

	Observe  func(method, route string, status int, took time.Duration)
	Degraded func(route, source string)
	Count    func(method, route string, status int) func() // counts responses from the page cache
	Trace    func(http.Handler) http.Handler               // wraps the router; responses from the page cache are not traced
}

// Server is the HTTP handler of the clock service.
type Server struct {
	handler http.Handler
	router  *httpx.Router
	pages   *httpcache.Cache
	readers *reader.Guard
}

// queries returns the query parameters of the reads of this service. They are read from the OpenAPI document once.
var queries = sync.OnceValue(func() *httpx.Queries { return httpx.ParseQueries(openapi.JSON, "clock") })

// New returns a Server. The caller must call Close when it no longer uses the Server.
func New(cfg Config) *Server {
	pages := cfg.Shared.Open("programme", httpcache.Options{
		TTL: pageLife, Stale: pageStale, MaxKeys: maxPages, Now: cfg.Now,
		Failed: func(key string, err error) { cfg.Log.Warn("page build failed", "page", key, "error", err) },
	})
	byCredential := ratelimit.NewLocal("credential", PerCredential, limitWindow, cfg.Now)
	readers := reader.New(reader.Config{
		Verify: cfg.Verify, Addresses: cfg.Addresses, Now: cfg.Now, Headers: true,
		Count: func(_ context.Context, _ reader.Kind, id string) ratelimit.Decision { return byCredential.Allow(id) },
	})
	h := &handlers{programs: cfg.Programs, pages: pages, now: cfg.Now, read: readers.Read}
	router := httpx.New(httpx.Config{
		Log: cfg.Log, Now: cfg.Now, Trusted: cfg.Trusted, Health: cfg.Health, Probes: httpx.Open, ServedBy: cfg.ServedBy,
		Observe: cfg.Observe, Degraded: cfg.Degraded,
	})
	router.Use(readers.Limit)
	httpx.Mount(router, h.routes())
	var next http.Handler = router
	if cfg.Trace != nil {
		next = cfg.Trace(router)
	}
	front := httpcache.NewHandler(next, httpcache.HandlerOptions{Allow: cfg.allow, Count: cfg.Count},
		hotRoute(pages, "/program/timeline", func(string) program.Preset { return program.Default }),
		hotRoute(pages, "/program/channel", program.ParsePreset),
	)
	return &Server{
		handler: queries().NameIgnored(front), router: router, pages: pages, readers: readers,
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Table returns all routes of the router, for tests and for the list of routes on the internal server.
func (s *Server) Table() []httpx.Route { return s.router.Table() }

// Close cancels running page builds and verifications of credentials, and waits until they end.
func (s *Server) Close() {
	s.pages.Close()
	s.readers.Close()
}

// hotRoute returns a route whose cached pages are served before the request reaches the router. Requests with a spec, or with
// a query of more than maxHotQuery bytes, go to the router. The function preset converts the query parameter preset to a
// Preset.
func hotRoute(pages *httpcache.Cache, pattern string, preset func(string) program.Preset) httpcache.Hot {
	header := httpx.Open.Headers()
	header.Set("Cache-Control", cacheProgram)
	params := []httpcache.Param{
		{Name: "preset", Clean: func(raw string) string { return string(preset(raw)) }},
		{Name: "limit", Clean: func(raw string) string {
			return strconv.Itoa(protocol.Limit(raw, program.DefaultLimit, program.MaxLimit))
		}},
		{Name: "spec", Clean: func(raw string) string { return raw }},
	}
	return httpcache.Hot{Pattern: pattern, Cache: pages, Header: header, Key: func(_, raw string) (string, bool) {
		if len(raw) > maxHotQuery {
			return "", false
		}
		q := httpcache.Query(raw, params)
		return q[0] + "|" + q[1], q[2] == ""
	}}
}

// allow applies the rate limit of an IP address to a request that may be served from the page cache, because such a request does
// not reach the middleware. It reports whether the request is allowed. It also sets the rate limit headers and X-Request-Id of
// the response.
func (cfg *Config) allow(w http.ResponseWriter, r *http.Request) bool {
	d, h := cfg.Addresses.Allow(r.Context(), ratelimit.AddressKey(httpx.Peer(r, cfg.Trusted))), w.Header()
	d.SetHeaders(h)
	id := r.Header.Get("X-Request-Id")
	if uuid.Validate(id) != nil || len(id) != 36 {
		id = uuid.Must(uuid.NewV7()).String()
	}
	h["X-Request-Id"] = []string{id}
	return d.Allowed
}

// Cache-Control values of responses that are not degraded.
const (
	cacheProgram = "public, s-maxage=30, stale-while-revalidate=60"
	cacheEmpty   = "public, s-maxage=1" // for an empty programme, which may soon be filled
	cacheNow     = "public, s-maxage=5" // maximum; shorter if the next segment boundary is nearer
)

var public = []string{"public"}

// routes returns the routes below /program/. No route requires a credential.
func (h *handlers) routes() []httpx.Route {
	return []httpx.Route{
		{Method: http.MethodGet, Path: "/program/timeline", Who: public, CORS: httpx.Open, Cache: cacheProgram, Handler: h.read(h.timeline), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/channel", Who: public, CORS: httpx.Open, Cache: cacheProgram, Handler: h.read(h.channel), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/now", Who: public, CORS: httpx.Open, Cache: cacheNow, Handler: h.read(h.currentSegment), Empty: h.emptySegment},
		{Method: http.MethodGet, Path: "/program/next", Who: public, CORS: httpx.Open, Cache: cacheNow, Handler: h.read(h.nextSegment), Empty: h.emptySegment},
	}
}
