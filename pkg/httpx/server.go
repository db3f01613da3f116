package httpx

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits are the timeouts and size limits of a server. Zero values mean the defaults, which the comments of the fields contain.
type Limits struct {
	ReadHeader time.Duration `env:"HTTP_READ_HEADER_TIMEOUT"` // 2 s
	Read       time.Duration `env:"HTTP_READ_TIMEOUT"`        // 4 s, for header and body
	Write      time.Duration `env:"HTTP_WRITE_TIMEOUT"`       // 5 s, from the end of the header
	Idle       time.Duration `env:"HTTP_IDLE_TIMEOUT"`        // 5 s; must exceed the idle timeout of a proxy in front of the server
	Header     int           `env:"HTTP_MAX_HEADER_BYTES"`    // 32 KiB
}

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&l.ReadHeader, 2*time.Second)
	set(&l.Read, 4*time.Second)
	set(&l.Write, 5*time.Second)
	set(&l.Idle, 5*time.Second)
	if l.Header <= 0 {
		l.Header = 32 << 10
	}
	return l
}

// Server is an HTTP server with a listener. Its lifecycle is Start, Serve, Drain, Stop.
type Server struct {
	srv      *http.Server
	ln       net.Listener
	addr     string
	draining atomic.Bool

	wrap func(net.Listener) net.Listener
}

// NewServer returns a server that does not listen yet. Messages of net/http, such as those about failed handshakes, are written
// to log at level debug.
func NewServer(addr string, h http.Handler, l Limits, log *slog.Logger) *Server {
	l = l.withDefaults()
	s := &Server{addr: addr}
	s.srv = &http.Server{
		Handler:           s.closeWhenDraining(h),
		ReadHeaderTimeout: l.ReadHeader,
		ReadTimeout:       l.Read,
		WriteTimeout:      l.Write,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    l.Header,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

// Join makes Start pass its listener through the function wrap, and makes the function context the ConnContext of the
// http.Server. It must be called before Start.
func (s *Server) Join(wrap func(net.Listener) net.Listener, context func(context.Context, net.Conn) context.Context) {
	s.wrap, s.srv.ConnContext = wrap, unwrapped(context)
}

// Start opens the listener. The kernel accepts connections from then on, and Addr returns the address in use.
func (s *Server) Start(ctx context.Context) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	if s.wrap != nil {
		ln = s.wrap(ln)
	}
	s.ln = retryListener{ln}
	return nil
}

// Addr returns the address of the listener. Before Start it returns the configured address, whose port may be 0.
func (s *Server) Addr() string {
	if s.ln == nil {
		return s.addr
	}
	return s.ln.Addr().String()
}

// Serve answers requests until Stop is called, and then returns nil.
func (s *Server) Serve() error {
	if err := s.srv.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain makes the server close each connection after its next response, so that clients connect to another process
// before Stop. Stop closes idle connections, and a request that a client sends at that moment would get no response.
func (s *Server) Drain() { s.draining.Store(true) }

func (s *Server) closeWhenDraining(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header()["Connection"] = connectionClose
		}
		h.ServeHTTP(w, r)
	})
}

var connectionClose = []string{"close"}

// Stop waits for running requests until ctx ends and then closes their connections. Hijacked connections (websockets)
// are not closed.
func (s *Server) Stop(ctx context.Context) error {
	err := s.srv.Shutdown(ctx)
	if err != nil {
		return errors.Join(err, s.srv.Close())
	}
	if s.ln != nil {
		if err := s.ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}

// Internal returns the handler of the internal listener: metrics, health checks, and the list of public routes. It does not serve
// the routes of net/http/pprof.
func Internal(metrics http.Handler, h *Health, table []Route) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /routes", func(w http.ResponseWriter, _ *http.Request) {
		writePlain(w, http.StatusOK, listed(table))
	})
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	return mux
}

// routeList is the response of GET /routes on the internal listener.
type routeList struct {
	Routes []listedRoute `json:"routes"`
}

type listedRoute struct {
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Who    []string `json:"who"`
}

func listed(table []Route) routeList {
	out := routeList{Routes: make([]listedRoute, 0, len(table))}
	for _, r := range table {
		out.Routes = append(out.Routes, listedRoute{Method: r.Method, Path: r.Path, Who: r.Who})
	}
	return out
}

// writePlain responds with a status and v as JSON, with Cache-Control: no-store. If v cannot be encoded, the status is 500.
func writePlain(w http.ResponseWriter, status int, v any) {
	body, err := Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, ErrorBody(err)
	}
	w.Header()["Cache-Control"], w.Header()["Content-Type"] = noStore, jsonType
	w.WriteHeader(status)
	// The client may have disconnected.
	_, _ = w.Write(body)
}

// hardening contains the security headers of responses in production. Browsers use https only, pages may not use the listed
// features, and windows of other origins get no reference to a page.
var hardening = map[string][]string{
	"Strict-Transport-Security":  {"max-age=31536000"},
	"Permissions-Policy":         {"camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), bluetooth=(), midi=()"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
}

// Harden adds the security headers of production to every response of next, including responses that do not reach the
// router. If production is false, it returns next.
func Harden(next http.Handler, production bool) http.Handler {
	if !production {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range hardening {
			h[name] = value
		}
		next.ServeHTTP(w, r)
	})
}
