package httpx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/telemetry"
)

var nosniff = []string{"nosniff"}

// slowRead is the latency from which a successful read is logged at level info instead of debug.
const slowRead = time.Second

// middleware is the outermost middleware. It sets the request id, fixed headers and CORS headers, recovers panics,
// writes error responses and the access log, and calls the metrics hook.
func (e *Router) middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := e.cfg.Now()
		r := c.Request()
		id := r.Header.Get("X-Request-Id")
		if !validRequestID(id) {
			id = e.cfg.NewID()
		}
		p := e.paths[c.Path()]
		h := c.Response().Header()
		h["X-Request-Id"] = []string{id}
		h["X-Content-Type-Options"] = nosniff
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h["Cache-Control"] = noStore
		}
		if k := p.cors(r.Method); r.Method == http.MethodOptions {
			k.setPreflight(h)
		} else {
			k.set(h)
		}
		c.SetRequest(r.WithContext(telemetry.WithRequestID(r.Context(), id)))
		run := next
		if p != nil && p.bypass != nil {
			run = p.bypass
		}
		clientClosed := false
		if err := withRecover(run, c); err != nil {
			clientClosed = e.fail(c, err) == statusClientClosed
		}
		status := c.Response().Status
		if clientClosed {
			status = statusClientClosed
		}
		e.record(c, p, status, e.cfg.Now().Sub(start))
		if clientClosed {
			panic(http.ErrAbortHandler) // otherwise the server sends an empty 200 to a client that closed only its writing side
		}
		return nil
	}
}

// panicked is the error of a recovered panic. Its text and stack are logged and never sent.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// withRecover calls h and returns a panic as an error. It does not recover http.ErrAbortHandler, with which a handler
// closes the connection.
func withRecover(h echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case v == http.ErrAbortHandler:
			panic(v)
		default:
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return h(c)
}

// fail writes the error response for err and returns its status. It logs server errors, and errors after the start of the
// response. If the client has disconnected, it writes nothing and returns statusClientClosed.
func (e *Router) fail(c echo.Context, err error) int {
	ctx := c.Request().Context()
	if errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled) {
		return statusClientClosed
	}
	if errors.Is(err, echo.ErrMethodNotAllowed) {
		if p := e.paths[c.Path()]; p != nil {
			c.Response().Header()["Allow"] = []string{p.allow}
		}
	}
	if errors.Is(err, echo.ErrNotFound) && e.cfg.ServedBy != nil {
		if base := e.cfg.ServedBy(c.Request().URL.Path); base != "" {
			err = ErrNotFound.WithText("another host of this installation serves this path: %s", base).With("servedBy", base)
		}
	}
	committed := c.Response().Committed
	status := WriteError(c, err)
	if status >= http.StatusInternalServerError || committed {
		e.logFailure(c, "request failed", status, err)
	}
	return status
}

func (e *Router) logFailure(c echo.Context, msg string, status int, err error) {
	ctx := c.Request().Context()
	attrs := []slog.Attr{
		slog.String("request_id", telemetry.RequestID(ctx)),
		slog.String("method", c.Request().Method),
		slog.String("route", c.Path()),
		slog.Int("status", status),
		slog.String("error", err.Error()),
	}
	var p *panicked
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	level := slog.LevelError
	if status == http.StatusServiceUnavailable || status == http.StatusNotImplemented { // not a fault of this service
		level = slog.LevelWarn
	}
	e.cfg.Log.LogAttrs(ctx, level, msg, attrs...)
}

// record calls the metrics hook, except for streams, and writes the access log. Successful fast reads are logged at level
// debug, because they are the majority and the metrics count them. Health checks are not recorded.
func (e *Router) record(c echo.Context, p *path, status int, took time.Duration) {
	r := c.Request()
	if p != nil && p.bypass != nil {
		return
	}
	if p == nil || !p.stream[r.Method] {
		e.cfg.Observe(methodLabel(r.Method), c.Path(), status, took)
	}
	level := slog.LevelInfo
	if (r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions) &&
		status < http.StatusBadRequest && took < slowRead {
		level = slog.LevelDebug
	}
	ctx := r.Context()
	if !e.cfg.Log.Enabled(ctx, level) {
		return
	}
	e.cfg.Log.LogAttrs(ctx, level, "request",
		slog.String("request_id", telemetry.RequestID(ctx)),
		slog.String("method", r.Method),
		slog.String("route", c.Path()),
		slog.String("path", truncate(r.URL.EscapedPath(), 200)),
		slog.String("query", safeQuery(r.URL.RawQuery)),
		slog.Int("status", status),
		slog.Int64("bytes", c.Response().Size),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("ip", c.RealIP()),
	)
}

func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// methodLabel returns the metric label of a method. Unknown methods become OTHER, so that clients cannot create label
// values.
func methodLabel(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "OTHER"
}
