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

// Limits of a server in time and size. Zero values become the defaults, which
// let no slow client hold a connection for longer than five seconds.
type Limits struct {
	ReadHeader time.Duration `env:"HTTP_READ_HEADER_TIMEOUT"` // 2 s
	Read       time.Duration `env:"HTTP_READ_TIMEOUT"`        // 4 s, head and body
	Write      time.Duration `env:"HTTP_WRITE_TIMEOUT"`       // 5 s, from the end of the head
	Idle       time.Duration `env:"HTTP_IDLE_TIMEOUT"`        // 5 s; raise it above a proxy's own
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

// Server is one HTTP listener with a life: Start, then Serve, then Drain and Stop.
type Server struct {
	srv      *http.Server
	ln       net.Listener
	addr     string
	draining atomic.Bool

	around func(net.Listener) net.Listener
}

// NewServer makes a server; nothing listens yet. Lines of the server itself
// (a broken connection, a bad handshake) go to log as debug lines.
func NewServer(addr string, h http.Handler, l Limits, log *slog.Logger) *Server {
	l = l.withDefaults()
	s := &Server{addr: addr}
	s.srv = &http.Server{
		Handler:           s.lastAnswers(h),
		ReadHeaderTimeout: l.ReadHeader,
		ReadTimeout:       l.Read,
		WriteTimeout:      l.Write,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    l.Header,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

// Join lets another package put itself between the server and its
// connections: around the listener, and into the context of each connection.
// It must be called before Start.
func (s *Server) Join(around func(net.Listener) net.Listener, context func(context.Context, net.Conn) context.Context) {
	s.around, s.srv.ConnContext = around, unwrapped(context)
}

// Start listens. After it, Addr is the address in use and connections wait.
func (s *Server) Start(ctx context.Context) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	if s.around != nil {
		ln = s.around(ln)
	}
	s.ln = lateListener{ln}
	return nil
}

// Addr is the address in use; port 0 has become a real one after Start.
func (s *Server) Addr() string {
	if s.ln == nil {
		return s.addr
	}
	return s.ln.Addr().String()
}

// Serve answers until Stop; nil means that it was stopped.
func (s *Server) Serve() error {
	if err := s.srv.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain closes each connection after its next answer, so that clients open their next ones to another process before Stop. A request
// that a client writes while Stop closes its connection would get no answer.
func (s *Server) Drain() { s.draining.Store(true) }

func (s *Server) lastAnswers(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header()["Connection"] = closing
		}
		h.ServeHTTP(w, r)
	})
}

var closing = []string{"close"}

// Stop waits for running requests until ctx ends and then closes their connections. It does not close hijacked connections
// (websockets).
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

// Internal returns the handler of the internal listener: metrics, health, and the list of public routes. It serves no profiles.
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

// routeList is the answer of /routes.
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

// writePlain answers with JSON that no cache stores.
func writePlain(w http.ResponseWriter, status int, v any) {
	body, err := Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal_error"}`)
	}
	w.Header()["Cache-Control"], w.Header()["Content-Type"] = noStore, jsonType
	w.WriteHeader(status)
	// The client may have left.
	_, _ = w.Write(body)
}

// hardening has the headers of every answer in production: browsers use https only, no page may use these devices, and a
// window of another origin has no reference to a page.
var hardening = map[string][]string{
	"Strict-Transport-Security":  {"max-age=31536000"},
	"Permissions-Policy":         {"camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), bluetooth=(), midi=()"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
}

// Harden adds the security headers of production to every answer of a handler, also to requests that are answered before the
// router.
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
