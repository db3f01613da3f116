package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// NewLogger returns a logger that writes JSON lines to w. It hides attributes whose names suggest a secret, and
// credentials in any text. Records within a trace have the attribute trace_id.
func NewLogger(w io.Writer, level slog.Level, service string) *slog.Logger {
	h := slog.NewJSONHandler(redactor{w}, &slog.HandlerOptions{Level: level, ReplaceAttr: hideByName})
	flush := func() {}
	if b, ok := w.(interface{ Flush() }); ok {
		flush = b.Flush
	}
	return slog.New(traced{h, flush}).With("service", service)
}

// Level parses the setting LOG_LEVEL: debug, info, warn (or warning) or error, in upper or lower case. For any other value it
// returns info.
func Level(s string) slog.Level {
	switch strings.ToLower(s) {
	case "debug":
		return slog.LevelDebug
	case "warn", "warning":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

func hideByName(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindGroup && isSecret(a.Key) {
		return slog.String(a.Key, hidden)
	}
	return a
}

// redactor removes credentials from each finished line, because secrets inside of structs and errors cannot be found
// by attribute name.
type redactor struct{ w io.Writer }

func (r redactor) Write(line []byte) (int, error) {
	if _, err := r.w.Write(redact(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// traced is a handler that adds the trace id of the context, and flushes the log after warnings and errors.
type traced struct {
	slog.Handler
	flush func()
}

func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()))
	}
	err := t.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		t.flush()
	}
	return err
}

func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traced{t.Handler.WithAttrs(attrs), t.flush}
}

func (t traced) WithGroup(name string) slog.Handler {
	return traced{t.Handler.WithGroup(name), t.flush}
}
