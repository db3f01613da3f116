package telemetry_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/signalcast/signalcast/pkg/telemetry"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

var quiet = slog.New(slog.DiscardHandler)

// ledger is a gRPC server that records the trace id of each call.
type ledger struct {
	grpc_health_v1.UnimplementedHealthServer
	mu     sync.Mutex
	traces []string
}

func (l *ledger) record(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		l.traces = append(l.traces, "none")
		return
	}
	l.traces = append(l.traces, sc.TraceID().String())
}

func (l *ledger) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	l.record(ctx)
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

func (l *ledger) Watch(_ *grpc_health_v1.HealthCheckRequest, s grpc_health_v1.Health_WatchServer) error {
	l.record(s.Context())
	return nil
}

// tracedService starts a gRPC server, and returns it with an HTTP handler that calls it. tr traces the server and the
// handler.
func tracedService(t *testing.T, tr *telemetry.Tracing) (http.Handler, *ledger) {
	t.Helper()
	ln := bufconn.Listen(1 << 16)
	s := grpc.NewServer(tr.ServerOptions()...)
	l := &ledger{}
	grpc_health_v1.RegisterHealthServer(s, l)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	opts := append(tr.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return ln.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///ledger", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	c := grpc_health_v1.NewHealthClient(conn)
	return tr.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := c.Check(r.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
			t.Error(err)
		}
		stream, err := c.Watch(r.Context(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})), l
}

func call(h http.Handler, target string, header ...string) {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
}

func TestTraceIsPropagatedWithoutExporter(t *testing.T) {
	t.Parallel()
	tr, err := telemetry.NewTracing(t.Context(), telemetry.TraceConfig{}, "hub", "1", quiet)
	if err != nil {
		t.Fatal(err)
	}
	h, l := tracedService(t, tr)
	call(h, "/api/m/1", "Traceparent", traceparent)
	call(h, "/api/m/1")
	call(h, "/api/m/1", "Traceparent", "junk")
	if got := strings.Join(l.traces, " "); got != traceID+" "+traceID+" none none none none" {
		t.Errorf("trace ids of the calls: %s", got)
	}
	if tr.Stop(t.Context()) != nil {
		t.Error("Stop without an exporter returned an error")
	}
}

func TestTraceExport(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got.WriteString(r.URL.Path + "\n")
		got.Write(body)
	}))
	defer collector.Close()
	tr, err := telemetry.NewTracing(t.Context(), telemetry.TraceConfig{Endpoint: collector.URL + "/", Ratio: 1}, "hub-service", "1", quiet)
	if err != nil {
		t.Fatal(err)
	}
	h, l := tracedService(t, tr)
	call(h, "/api/m/1?secret=CANARY&token=CANARY", "Traceparent", traceparent, "Authorization", "Bearer CANARY", "Cookie", "db_sig=CANARY")
	call(h, "/api/m/dat_CANARYCANARY", "Traceparent", traceparent)
	call(h, "/healthz")
	if err := tr.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if l.traces[0] != traceID || l.traces[1] != traceID {
		t.Errorf("the trace of the caller was not propagated: %v", l.traces)
	}
	for _, want := range []string{"/v1/traces", "/api/m/dat_[hidden]", "grpc.health.v1.Health/Check", "hub-service"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the export does not contain %s", want)
		}
	}
	if strings.Contains(got.String(), "CANARY") {
		t.Error("the export contains a secret")
	}
	if strings.Contains(got.String(), "healthz") {
		t.Error("health checks are traced")
	}
}

func TestSampledFlagOfARequestIsIgnored(t *testing.T) {
	t.Parallel()
	tr, err := telemetry.NewTracing(t.Context(), telemetry.TraceConfig{Endpoint: "http://127.0.0.1:1", Ratio: 0}, "hub", "1", quiet)
	if err != nil {
		t.Fatal(err)
	}
	sampled := true
	h := tr.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sampled = trace.SpanContextFromContext(r.Context()).IsSampled()
	}))
	call(h, "/", "Traceparent", traceparent)
	if sampled {
		t.Error("a request was sampled because of its flag")
	}
	if tr.Stop(t.Context()) != nil {
		t.Error("Stop returned an error")
	}
}
