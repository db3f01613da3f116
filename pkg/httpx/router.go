package httpx

import (
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// Config configures a Router. Now and Log are required.
type Config struct {
	Log     *slog.Logger
	Now     func() time.Time
	NewID   func() string  // returns a request id; UUIDv7 when nil
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is trusted
	Health  *Health        // answers /healthz and /readyz unless nil
	Probes  CORS           // CORS class of /healthz and /readyz
	Timeout time.Duration  // timeout of one request; 4 s when zero; reads have at most 900 ms

	// Source is the default of Route.Source.
	Source string
	// ServedBy returns the base URL of the host of this installation that serves a path, or "". It is called for unknown paths
	// and may be nil.
	ServedBy func(path string) string

	// Observe is called for every response, and Degraded for every response with X-Degraded. route is the pattern and
	// not the path, so that the number of metric labels is bounded.
	Observe  func(method, route string, status int, took time.Duration)
	Degraded func(route, source string)
}

// DefaultTimeout is the default timeout of one request. It is shorter than the write timeout of the server.
const DefaultTimeout = 4 * time.Second

// Router is an Echo router with the middleware of this package. Use adds middleware that runs after routing. Errors of
// that middleware are written as JSON error responses. Health checks bypass it.
type Router struct {
	*echo.Echo
	cfg   Config
	paths map[string]*path // by pattern
	table []Route
}

// New returns a Router without routes except those of Config.Health.
func New(cfg Config) *Router {
	if cfg.NewID == nil {
		cfg.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, string, int, time.Duration) {}
	}
	if cfg.Degraded == nil {
		cfg.Degraded = func(string, string) {}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	e := &Router{Echo: echo.New(), cfg: cfg, paths: make(map[string]*path)}
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard) // relevant errors are returned and logged by the router
	e.IPExtractor = func(r *http.Request) string { return Peer(r, cfg.Trusted) }
	e.HTTPErrorHandler = func(err error, c echo.Context) { e.fail(c, err) }
	e.Use(e.middleware)
	if cfg.Health != nil {
		e.mountHealth(cfg.Health, cfg.Probes)
	}
	return e
}
