package web

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

// Check tells whether one thing that a service needs is there.
type Check struct {
	Name string
	Test func(context.Context) error
}

// checkTime bounds one check; checkLife is how long its answer is good, so
// that the route cannot be used to load what it asks.
const (
	checkTime = time.Second
	checkLife = 500 * time.Millisecond
)

// Health answers /healthz (the process lives) and /readyz (it should get
// requests). It starts not ready: Up says that starting is done, Down that
// stopping has begun.
type Health struct {
	nonce  string
	now    func() time.Time
	checks []Check
	up     atomic.Bool

	mu     sync.Mutex
	asked  time.Time
	failed []string
}

// NewHealth makes the answers; nonce tells one process from another.
func NewHealth(nonce string, now func() time.Time, checks ...Check) *Health {
	return &Health{nonce: nonce, now: now, checks: checks}
}

// Up makes the service ready as far as its checks allow.
func (h *Health) Up() { h.up.Store(true) }

// Down makes the service not ready, for good as far as callers care.
func (h *Health) Down() { h.up.Store(false) }

// Failed names what keeps the service from being ready; nil when it is ready.
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
	// A caller that hangs up must not make the next one hear "failed".
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

// Healthz answers 200 for as long as the process can answer.
func (h *Health) Healthz(c echo.Context) error {
	c.Response().Header()["Cache-Control"] = noStore
	return OK(c, alive{OK: true, Nonce: h.nonce})
}

// Readyz answers 200, or 503 with the names of what failed.
func (h *Health) Readyz(c echo.Context) error {
	status, failed := http.StatusOK, h.Failed(c.Request().Context())
	header := c.Response().Header()
	header["Cache-Control"] = noStore
	if failed != nil {
		status = http.StatusServiceUnavailable
		header["Retry-After"] = []string{"1"}
	}
	return JSON(c, status, ready{OK: failed == nil, Nonce: h.nonce, Failed: failed})
}

// mountHealth adds the two routes in front of every other middleware: a probe
// is never limited.
func (e *Edge) mountHealth(h *Health, k CORS) {
	Mount(e, []Route{
		{Method: http.MethodGet, Path: "/healthz", Who: []string{"public"}, CORS: k, Handler: h.Healthz},
		{Method: http.MethodGet, Path: "/readyz", Who: []string{"public"}, CORS: k, Handler: h.Readyz},
	})
	for pattern, get := range map[string]echo.HandlerFunc{"/healthz": h.Healthz, "/readyz": h.Readyz} {
		e.paths[pattern].bypass = func(c echo.Context) error {
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
