package grpcx_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const secret = "a-secret-that-both-ends-know-well"

// echo is a service with one unary and one streaming method. Each test sets their behavior.
type echo struct {
	do     func(ctx context.Context, in string) (string, error)
	stream func(ss grpc.ServerStream) error
}

func (e *echo) register(r grpc.ServiceRegistrar) {
	r.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(_ any, ctx context.Context, decode func(any) error, wrap grpc.UnaryServerInterceptor) (any, error) {
			in := new(wrapperspb.StringValue)
			if err := decode(in); err != nil {
				return nil, err
			}
			return wrap(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/test.Echo/Say"}, func(ctx context.Context, req any) (any, error) {
				out, err := e.do(ctx, req.(*wrapperspb.StringValue).GetValue())
				return wrapperspb.String(out), err
			})
		}}},
		Streams: []grpc.StreamDesc{{StreamName: "Tell", ServerStreams: true, Handler: func(_ any, ss grpc.ServerStream) error {
			return e.stream(ss)
		}}},
	}, e)
}

func callEcho(ctx context.Context, conn *grpc.ClientConn, in string) (string, error) {
	out := new(wrapperspb.StringValue)
	err := conn.Invoke(ctx, "/test.Echo/Say", wrapperspb.String(in), out)
	return out.GetValue(), err
}

// serve runs the service on addr until stop is called or the test ends. It returns the address in use.
func serve(t *testing.T, e *echo, addr string, log io.Writer) (got string, stop func()) {
	t.Helper()
	s, err := grpcx.NewServer(grpcx.ServerConfig{Secret: secret, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	e.register(s)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	s.SetReady(true)
	var once atomic.Bool
	stop = func() {
		if !once.CompareAndSwap(false, true) {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		s.Shutdown(ctx)
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

func dial(t *testing.T, cfg grpcx.DialConfig) *grpc.ClientConn {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = secret
	}
	conn, err := grpcx.Dial(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestFaultsCrossUnchanged(t *testing.T) {
	t.Parallel()
	all := []apperr.Kind{
		apperr.Invalid, apperr.Unauthenticated, apperr.Forbidden, apperr.NotFound, apperr.NotAllowed, apperr.Conflict,
		apperr.Gone, apperr.TooLarge, apperr.Unsupported, apperr.Limited, apperr.Unavailable,
	}
	var next *apperr.Fault
	e := &echo{do: func(context.Context, string) (string, error) { return "", next.Wrap(errors.New("private cause")) }}
	conn := testkit.Link(t, e.register)
	for _, kind := range all {
		next = apperr.New(kind, "some_code", "Text for people.").
			With("id", "01J").With("retryAfterMs", 1500).With("ratio", 0.5).With("list", []any{1, "a"})
		_, err := callEcho(t.Context(), conn, "")
		if !errors.Is(err, next) {
			t.Fatalf("kind %d became %v", kind, err)
		}
		got := apperr.Of(err)
		want := map[string]any{"id": "01J", "retryAfterMs": int64(1500), "ratio": 0.5, "list": []any{int64(1), "a"}}
		if diff := cmp.Diff(want, got.Extra); diff != "" || got.Message != "Text for people." {
			t.Fatalf("kind %d: %q %s", kind, got.Message, diff)
		}
		if strings.Contains(err.Error(), "private cause") {
			t.Fatal("the private cause reached the client")
		}
	}
}

func TestTextsOfInternalErrorsAreNotSent(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	panics := false
	e := &echo{do: func(context.Context, string) (string, error) {
		if panics {
			panic("column secret_hash")
		}
		return "", errors.New("relation secret_table does not exist")
	}}
	addr, stop := serve(t, e, "127.0.0.1:0", &logged)
	conn := dial(t, grpcx.DialConfig{Addr: addr})
	for _, panics = range []bool{false, true} {
		_, err := callEcho(t.Context(), conn, "")
		if apperr.Of(err).Kind != apperr.Internal || strings.Contains(err.Error(), "secret") {
			t.Fatal(err)
		}
	}
	stop()
	if !strings.Contains(logged.String(), "secret_table") || !strings.Contains(logged.String(), "secret_hash") {
		t.Fatalf("the log lacks an error: %s", logged.String())
	}
}

func TestSecretIsRequired(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	e := &echo{
		do:     func(context.Context, string) (string, error) { ran.Add(1); return "", nil },
		stream: func(grpc.ServerStream) error { ran.Add(1); return nil },
	}
	addr, _ := serve(t, e, "127.0.0.1:0", io.Discard)
	conn := dial(t, grpcx.DialConfig{Addr: addr, Secret: "another-secret-of-the-same-length!"})
	_, err := callEcho(t.Context(), conn, "")
	if apperr.Of(err).Kind != apperr.Internal {
		t.Fatal("a wrong secret must be reported as an internal error:", err)
	}
	s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.Echo/Tell")
	if err == nil {
		_ = s.CloseSend()
		err = s.RecvMsg(new(wrapperspb.StringValue))
	}
	if apperr.Of(err).Kind != apperr.Internal || ran.Load() != 0 {
		t.Fatal(err, ran.Load())
	}
	// Health checks need no secret.
	out, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || out.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("health check without a secret: %v, error %v", out, err)
	}
	if _, err := grpcx.NewServer(grpcx.ServerConfig{}); err == nil {
		t.Error("NewServer accepted an empty secret")
	}
	if _, err := grpcx.Dial(grpcx.DialConfig{Addr: addr}); err == nil {
		t.Error("Dial accepted an empty secret")
	}
}

// TestDeadlinesTravel checks that deadlines are propagated, and that a call without enough time left is not started.
func TestDeadlinesTravel(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	var ran atomic.Int32
	ended := make(chan error, 1)
	e := &echo{do: func(ctx context.Context, in string) (string, error) {
		ran.Add(1)
		deadline, _ := ctx.Deadline()
		left.Store(int64(time.Until(deadline)))
		if in == "wait" {
			<-ctx.Done()
			ended <- ctx.Err()
			return "", ctx.Err()
		}
		return in, nil
	}}
	conn := testkit.Link(t, e.register)
	call := func(d time.Duration, in string) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err := callEcho(ctx, conn, in)
		return err
	}
	if err := call(time.Second, ""); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(left.Load()); got > 980*time.Millisecond || got < 500*time.Millisecond {
		t.Errorf("%v of one second left, want 500 ms to 980 ms", got)
	}
	if err := call(150*time.Millisecond, ""); err != nil {
		t.Errorf("a call with 150 ms left failed: %v", err)
	}
	before := ran.Load()
	err := call(80*time.Millisecond, "")
	if !errors.Is(err, grpcx.ErrUnavailable) || ran.Load() != before {
		t.Fatalf("a call with 80 ms left: error %v, %d runs; want it rejected without a run", err, ran.Load()-before)
	}
	if err := call(200*time.Millisecond, "wait"); !errors.Is(err, grpcx.ErrUnavailable) {
		t.Error(err)
	}
	<-ended
	// A caller that cancels stops the work of the server and gets context.Canceled.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ran.Load() < before+2 {
			select {
			case <-t.Context().Done():
			default:
			}
		}
		cancel()
	}()
	if _, err := callEcho(ctx, conn, "wait"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCallsWithoutDeadlineGetOne(t *testing.T) {
	t.Parallel()
	e := &echo{do: func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
	addr, _ := serve(t, e, "127.0.0.1:0", io.Discard)
	conn := dial(t, grpcx.DialConfig{Addr: addr, Timeout: 200 * time.Millisecond})
	began := time.Now()
	if _, err := callEcho(t.Context(), conn, ""); !errors.Is(err, grpcx.ErrUnavailable) || time.Since(began) > 2*time.Second {
		t.Fatal(err, time.Since(began))
	}
}

func TestReconnectAfterPeerRestart(t *testing.T) {
	t.Parallel()
	e := &echo{do: func(_ context.Context, in string) (string, error) { return in, nil }}
	addr, stop := serve(t, e, "127.0.0.1:0", io.Discard)
	peerUnavailable := apperr.New(apperr.Unavailable, "pulse_unavailable", "")
	conn := dial(t, grpcx.DialConfig{Addr: addr, Unavailable: peerUnavailable})
	if _, err := callEcho(t.Context(), conn, "x"); err != nil {
		t.Fatal(err)
	}
	stop()
	testkit.Eventually(t, 5*time.Second, func() bool {
		began := time.Now()
		_, err := callEcho(t.Context(), conn, "x")
		if !errors.Is(err, peerUnavailable) {
			t.Fatalf("want pulse_unavailable, got %v", err)
		}
		return time.Since(began) < 500*time.Millisecond
	})
	// The outage lasts longer than the first delays between connection attempts.
	began := time.Now()
	testkit.Eventually(t, 5*time.Second, func() bool { return time.Since(began) > 2*time.Second })
	serve(t, e, addr, io.Discard)
	began = time.Now()
	testkit.Eventually(t, 5*time.Second, func() bool { _, err := callEcho(t.Context(), conn, "x"); return err == nil })
	t.Logf("reconnected after %v", time.Since(began))
}

func TestRequestIDIsPropagated(t *testing.T) {
	t.Parallel()
	e := &echo{
		do: func(ctx context.Context, _ string) (string, error) { return telemetry.RequestID(ctx), nil },
		stream: func(ss grpc.ServerStream) error {
			if err := ss.SendMsg(wrapperspb.String(telemetry.RequestID(ss.Context()))); err != nil {
				return err
			}
			return apperr.New(apperr.Gone, "outdated_cursor", "").With("reload", true)
		},
	}
	conn := testkit.Link(t, e.register)
	ctx := telemetry.WithRequestID(t.Context(), "req-1")
	if got, err := callEcho(ctx, conn, ""); got != "req-1" || err != nil {
		t.Fatalf("request id %q, error %v; want req-1", got, err)
	}
	if got, err := callEcho(t.Context(), conn, ""); got != "" || err != nil {
		t.Fatalf("request id %q, error %v; want none", got, err)
	}
	long := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", strings.Repeat("x", 129))
	if got, err := callEcho(long, conn, ""); got != "" || err != nil {
		t.Fatalf("a request id of %d bytes was accepted, error %v", len(got), err)
	}
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/test.Echo/Tell")
	if err != nil {
		t.Fatal(err)
	}
	_ = s.CloseSend()
	out := new(wrapperspb.StringValue)
	if err := s.RecvMsg(out); err != nil || out.GetValue() != "req-1" {
		t.Fatalf("request id in a stream: %v, error %v; want req-1", out, err)
	}
	if err := s.RecvMsg(out); apperr.Of(err).Code != "outdated_cursor" || apperr.Of(err).Extra["reload"] != true {
		t.Fatal(err)
	}
}

// TestBrokenStreamIsAnOutage checks that a stream whose connection breaks returns the fault of an unavailable peer and
// not context.Canceled.
func TestBrokenStreamIsAnOutage(t *testing.T) {
	t.Parallel()
	e := &echo{stream: func(ss grpc.ServerStream) error {
		<-ss.Context().Done()
		return ss.Context().Err()
	}}
	addr, stop := serve(t, e, "127.0.0.1:0", io.Discard)
	s, err := dial(t, grpcx.DialConfig{Addr: addr}).NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.Echo/Tell")
	if err != nil {
		t.Fatal(err)
	}
	_ = s.CloseSend()
	stop()
	if err := s.RecvMsg(new(wrapperspb.StringValue)); apperr.Of(err).Kind != apperr.Unavailable {
		t.Errorf("receive from a server that has ended: %v (%v); want an outage", err, apperr.Of(err).Kind)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	e := &echo{do: func(_ context.Context, in string) (string, error) { return in, nil }}
	conn := testkit.Link(t, e.register)
	if _, err := callEcho(t.Context(), conn, strings.Repeat("x", 7<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := callEcho(t.Context(), conn, strings.Repeat("x", 9<<20)); apperr.Of(err).Kind != apperr.Internal {
		t.Fatal(err)
	}
}

func TestStatusOfALibraryIsInternal(t *testing.T) {
	t.Parallel()
	e := &echo{do: func(context.Context, string) (string, error) {
		return "", status.Error(codes.NotFound, "a library said so")
	}}
	conn := testkit.Link(t, e.register)
	if _, err := callEcho(t.Context(), conn, ""); apperr.Of(err).Kind != apperr.Internal || strings.Contains(err.Error(), "library") {
		t.Fatal(err)
	}
}
