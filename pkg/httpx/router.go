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

// Config of an Router. Now and Log are needed, the rest has useful zero values.
type Config struct {
	Log     *slog.Logger
	Now     func() time.Time
	NewID   func() string  // request ids; UUIDv7 when nil
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
	Health  *Health        // answers /healthz and /readyz when given
	Probes  CORS           // CORS class of these two
	Timeout time.Duration  // time for one request; 4 s when zero; a read never has more than 900 ms

	// Observe hears of every answer; Degraded of every graceful-empty one.
	// Route is the pattern, never the path, so their values are bounded.
	Observe  func(method, route string, status int, took time.Duration)
	Degraded func(route, source string)
}

// DefaultTimeout of a request; shorter than the time to write the answer.
const DefaultTimeout = 4 * time.Second

// Router is an Echo with our plumbing around it. Use adds middleware inside the
// plumbing: it runs after routing, its errors are written in the one shape,
// and health routes do not pass through it.
type Router struct {
	*echo.Echo
	cfg   Config
	paths map[string]*path // by pattern
	table []Route
}

// New makes an Router without routes other than health.
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
	e.Logger.SetOutput(io.Discard) // what matters reaches us as an error
	e.IPExtractor = func(r *http.Request) string { return Peer(r, cfg.Trusted) }
	e.HTTPErrorHandler = func(err error, c echo.Context) { e.fail(c, err) }
	e.Use(e.frame)
	if cfg.Health != nil {
		e.mountHealth(cfg.Health, cfg.Probes)
	}
	return e
}
