package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
)

// TraceConfig configures the export of traces. With an empty Endpoint nothing is exported, but traceparent is still
// propagated.
type TraceConfig struct {
	Endpoint string  `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	Ratio    float64 `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"0.05"` // share of traces that are exported
}

// Tracing adds tracing to HTTP handlers, gRPC servers and gRPC clients. Without an exporter it only propagates
// traceparent.
type Tracing struct {
	provider trace.TracerProvider
	prop     propagation.TextMapPropagator
	export   bool
	stop     func(context.Context) error
}

// NewTracing returns a Tracing that connects to the collector on demand. An unavailable collector does not delay requests or make
// them fail.
func NewTracing(ctx context.Context, c TraceConfig, service, version string, log *slog.Logger) (*Tracing, error) {
	t := &Tracing{
		provider: noop.NewTracerProvider(),
		prop:     propagation.TraceContext{},
		stop:     func(context.Context) error { return nil },
	}
	if c.Endpoint == "" {
		return t, nil
	}
	exp, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(traceURL(c.Endpoint)))
	if err != nil {
		return nil, err
	}
	// The exporter reports errors only to this handler. The default handler prints them to standard error.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("trace export failed", "error", err.Error()) }))
	t.use(sdk.NewBatchSpanProcessor(exp), c.Ratio, service, version)
	return t, nil
}

// traceURL returns the URL to which traces are exported. base is the value of OTEL_EXPORTER_OTLP_ENDPOINT, a base URL without
// the path /v1/traces.
func traceURL(base string) string {
	return strings.TrimRight(base, "/") + "/v1/traces"
}

func (t *Tracing) use(p sdk.SpanProcessor, ratio float64, service, version string) {
	// The "sampled" flag of a request has no effect, because any client could otherwise fill the collector. The trace
	// id decides, so that all services make the same decision.
	keep := sdk.TraceIDRatioBased(ratio)
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(p),
		sdk.WithSampler(sdk.ParentBased(keep, sdk.WithRemoteParentSampled(keep), sdk.WithRemoteParentNotSampled(sdk.NeverSample()))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", service),
			attribute.String("service.version", version),
		)),
	)
	t.provider, t.export, t.stop = provider, true, provider.Shutdown
}

// Stop exports the remaining spans, until ctx ends, and releases the exporter.
func (t *Tracing) Stop(ctx context.Context) error { return t.stop(ctx) }

// HTTP returns a handler that traces next. Without an exporter it only reads traceparent.
func (t *Tracing) HTTP(next http.Handler) http.Handler {
	if !t.export {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header["Traceparent"] != nil {
				r = r.WithContext(t.prop.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
			}
			next.ServeHTTP(w, r)
		})
	}
	return otelhttp.NewHandler(hidePath(next), "http",
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithPropagators(t.prop),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method }),
		otelhttp.WithFilter(func(r *http.Request) bool { return r.URL.Path != "/healthz" && r.URL.Path != "/readyz" }),
	)
}

// hidePath removes credentials from the path in a span, because a client may have sent a secret in the path.
func hidePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
			if shown := Redact(r.URL.Path); shown != r.URL.Path {
				span.SetAttributes(attribute.String("url.path", shown))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Sampled reports whether the request to which ctx belongs is recorded in a trace.
func Sampled(ctx context.Context) bool { return trace.SpanContextFromContext(ctx).IsSampled() }

type requestIDKey struct{}

// RequestID returns the id of the request to which a context belongs, or "" outside of a request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// WithRequestID returns a copy of ctx for which RequestID returns id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// ServerOptions returns options that add tracing to a gRPC server.
func (t *Tracing) ServerOptions() []grpc.ServerOption {
	if t.export {
		return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
			otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(t.prop)))}
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(t.unaryServer), grpc.ChainStreamInterceptor(t.streamServer)}
}

// DialOptions returns options that add tracing to a gRPC client.
func (t *Tracing) DialOptions() []grpc.DialOption {
	if t.export {
		return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(t.prop)))}
	}
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(t.unaryClient), grpc.WithChainStreamInterceptor(t.streamClient)}
}
