package httpx

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// Check is a readiness check of one dependency of a service. Test returns nil if the dependency is available.
type Check struct {
	Name string
	Test func(context.Context) error
}

// checkTime is the timeout of a check. checkLife is the time for which the results of all checks are reused, so that
// requests for /readyz do not put load on dependencies.
const (
	checkTime = time.Second
	checkLife = 500 * time.Millisecond
)

// Health serves /healthz (the process runs) and /readyz (the process accepts requests). A process is ready if Up has been called,
// Down has not been called since, and all checks succeed.
type Health struct {
	nonce  string
	now    func() time.Time
	checks []Check
	up     atomic.Bool

	mu        sync.Mutex
	checkedAt time.Time // time of the last checks
	failed    []string
}

// NewHealth returns a Health that is not ready. nonce identifies the process in responses.
func NewHealth(nonce string, now func() time.Time, checks ...Check) *Health {
	return &Health{nonce: nonce, now: now, checks: checks}
}

// Up marks the process as started. From then on it is ready if all checks succeed.
func (h *Health) Up() { h.up.Store(true) }

// Down makes the process not ready, regardless of the checks, so that it receives no new requests.
func (h *Health) Down() { h.up.Store(false) }

// Failed returns the names of the failed checks, or nil if the service is ready. It reuses results that are younger than
// checkLife. Before Up and after Down it returns "lifecycle".
func (h *Health) Failed(ctx context.Context) []string {
	if !h.up.Load() {
		return []string{"lifecycle"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if !h.checkedAt.IsZero() && now.Sub(h.checkedAt) < checkLife {
		return h.failed
	}
	h.failed, h.checkedAt = h.runChecks(ctx), now
	return h.failed
}

func (h *Health) runChecks(ctx context.Context) []string {
	// The checks continue if the request is canceled, because later requests reuse the result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	bad := make([]bool, len(h.checks))
	var wg sync.WaitGroup
	for i, c := range h.checks {
		wg.Go(func() { bad[i] = c.Test(ctx) != nil })
	}
	wg.Wait()
	var failed []string
	for i, c := range h.checks {
		if bad[i] {
			failed = append(failed, c.Name)
		}
	}
	slices.Sort(failed)
	return failed
}

type alive struct {
	OK    bool   `json:"ok"`
	Nonce string `json:"nonce"`
}

type ready struct {
	OK     bool     `json:"ok"`
	Nonce  string   `json:"nonce"`
	Failed []string `json:"failed,omitempty"`
}

// healthz responds with 200 and the nonce of the process.
func (h *Health) healthz(w http.ResponseWriter, _ *http.Request) {
	writePlain(w, http.StatusOK, alive{OK: true, Nonce: h.nonce})
}

// readyz responds with 200 if the process is ready, or with 503 and the names of the failed checks.
func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	status, failed := http.StatusOK, h.Failed(r.Context())
	if failed != nil {
		status = http.StatusServiceUnavailable
		w.Header()["Retry-After"] = []string{"1"}
	}
	writePlain(w, status, ready{OK: failed == nil, Nonce: h.nonce, Failed: failed})
}

// mountHealth adds /healthz and /readyz. They bypass all other middleware, so that no limit applies to health checks.
func (e *Router) mountHealth(h *Health, k CORS) {
	for _, probe := range []struct {
		path   string
		answer http.HandlerFunc
	}{{"/healthz", h.healthz}, {"/readyz", h.readyz}} {
		get := echo.WrapHandler(probe.answer)
		Mount(e, []Route{{Method: http.MethodGet, Path: probe.path, Who: []string{"public"}, CORS: k, Handler: get}})
		e.paths[probe.path].bypass = func(c echo.Context) error {
			if m := c.Request().Method; m != http.MethodGet && m != http.MethodHead {
				return c.Handler()(c) // OPTIONS and 405 are answered as on other paths
			}
			return get(c)
		}
	}
}

// probeTime is the timeout of Probe, including the connection.
const probeTime = 3 * time.Second

// Probe requests /readyz from the service at addr (host:port). For an empty or unspecified host it uses 127.0.0.1. It returns nil
// if the service is ready. Container images without a shell use Probe as their health check.
func Probe(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("request /readyz: %w", err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("request /readyz: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", answer.Status)
	}
	return nil
}
