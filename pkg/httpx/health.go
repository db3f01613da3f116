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

// Check tests whether one dependency of a service is available.
type Check struct {
	Name string
	Test func(context.Context) error
}

// A check takes at most checkTime. Its result is reused for checkLife, so that requests for /readyz put no load on dependencies.
const (
	checkTime = time.Second
	checkLife = 500 * time.Millisecond
)

// Health answers /healthz (the process runs) and /readyz (it should get requests). A process is ready between Up, after its start,
// and Down, before its stop, while its checks succeed.
type Health struct {
	nonce  string
	now    func() time.Time
	checks []Check
	up     atomic.Bool

	mu     sync.Mutex
	asked  time.Time // of failed
	failed []string
}

// NewHealth returns a Health that is not ready. nonce identifies the process in its answers.
func NewHealth(nonce string, now func() time.Time, checks ...Check) *Health {
	return &Health{nonce: nonce, now: now, checks: checks}
}

// Up makes the service ready if its checks succeed.
func (h *Health) Up() { h.up.Store(true) }

// Down makes the service not ready, whatever its checks return.
func (h *Health) Down() { h.up.Store(false) }

// Failed returns the names of the failed checks, nil if the service is ready. Before Up and after Down it returns "lifecycle".
func (h *Health) Failed(ctx context.Context) []string {
	if !h.up.Load() {
		return []string{"lifecycle"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if !h.asked.IsZero() && now.Sub(h.asked) < checkLife {
		return h.failed
	}
	h.failed, h.asked = h.ask(ctx), now
	return h.failed
}

func (h *Health) ask(ctx context.Context) []string {
	// The end of a request must not fail the checks: the next request gets the same result.
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

// healthz answers 200 for as long as the process can answer.
func (h *Health) healthz(w http.ResponseWriter, _ *http.Request) {
	writePlain(w, http.StatusOK, alive{OK: true, Nonce: h.nonce})
}

// readyz answers 200, or 503 with the names of the checks that failed.
func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	status, failed := http.StatusOK, h.Failed(r.Context())
	if failed != nil {
		status = http.StatusServiceUnavailable
		w.Header()["Retry-After"] = []string{"1"}
	}
	writePlain(w, status, ready{OK: failed == nil, Nonce: h.nonce, Failed: failed})
}

// mountHealth adds /healthz and /readyz. They answer before any other middleware, so that no limit applies to a probe.
func (e *Router) mountHealth(h *Health, k CORS) {
	for _, probe := range []struct {
		path   string
		answer http.HandlerFunc
	}{{"/healthz", h.healthz}, {"/readyz", h.readyz}} {
		get := echo.WrapHandler(probe.answer)
		Mount(e, []Route{{Method: http.MethodGet, Path: probe.path, Who: []string{"public"}, CORS: k, Handler: get}})
		e.paths[probe.path].bypass = func(c echo.Context) error {
			if m := c.Request().Method; m != http.MethodGet && m != http.MethodHead {
				return c.Handler()(c) // OPTIONS and 405 as everywhere
			}
			return get(c)
		}
	}
}

// probeTime bounds one request of Probe.
const probeTime = 3 * time.Second

// Probe requests /readyz of the service that listens on addr of this machine and returns nil if it is ready. It is the health
// check of containers without a shell.
func Probe(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("read address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", answer.Status)
	}
	return nil
}
