package grpcx

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/telemetry"
)

const (
	// returnTime is the time reserved for the return of the answer to the caller.
	returnTime = 20 * time.Millisecond
	// minWork is the minimum time left to start a call. With less, the caller would time out before the answer.
	minWork = 100 * time.Millisecond
)

var errTooLate = apperr.New(apperr.Unavailable, tooLateCode,
	"the request arrived too close to its deadline; retry in 1 s").With("retryAfterMs", 1000)

// ServerConfig configures a Server. Secret is required.
type ServerConfig struct {
	Secret  string
	Timeout time.Duration // timeout of a call without a deadline; 30 s when zero
	Log     *slog.Logger  // logs internal errors and panics; slog.Default() when nil
	Options []grpc.ServerOption
}

// Server is a gRPC server that checks the link secret, propagates deadlines and request ids, and encodes faults. It
// includes the gRPC health service, which needs no secret. Register services on it before Serve.
type Server struct {
	*grpc.Server
	health *health.Server
	guard  guard
}

// NewServer returns a server without services except the health service. It fails if Secret is empty.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Secret == "" {
		return nil, errors.New("serve: link secret is required")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	g := guard{secret: protocol.NewSecret(cfg.Secret), timeout: cfg.Timeout, log: cfg.Log}
	options := append([]grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 5 * time.Second}),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.ChainUnaryInterceptor(g.unary),
		grpc.ChainStreamInterceptor(g.stream),
	}, cfg.Options...)
	s := &Server{Server: grpc.NewServer(options...), health: health.NewServer(), guard: g}
	healthpb.RegisterHealthServer(s.Server, s.health)
	return s, nil
}

// SetReady sets the status that the health service reports: SERVING or NOT_SERVING.
func (s *Server) SetReady(ready bool) {
	state := healthpb.HealthCheckResponse_NOT_SERVING
	if ready {
		state = healthpb.HealthCheckResponse_SERVING
	}
	s.health.SetServingStatus("", state)
}

// Shutdown sets the health status to NOT_SERVING and waits for running calls. When ctx ends, it cancels the remaining calls.
func (s *Server) Shutdown(ctx context.Context) {
	s.health.Shutdown()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.Server.Stop()
		<-done
	}
}

type guard struct {
	secret  protocol.Secret
	timeout time.Duration
	log     *slog.Logger
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (resp any, err error) {
	if err := g.authenticate(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	ctx = received(ctx)
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(g.timeout)
	}
	deadline = deadline.Add(-returnTime)
	if ok && time.Until(deadline) < minWork {
		return nil, toStatus(errTooLate)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			resp, err = nil, g.panicked(ctx, info.FullMethod, r)
		}
	}()
	resp, err = handle(ctx, req)
	return resp, g.answer(ctx, info.FullMethod, err)
}

func (g guard) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	ctx := ss.Context()
	if err := g.authenticate(ctx, info.FullMethod); err != nil {
		return err
	}
	ctx = received(ctx)
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(ctx, info.FullMethod, r)
		}
	}()
	return g.answer(ctx, info.FullMethod, handle(srv, &serverStream{ServerStream: ss, ctx: ctx}))
}

type serverStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // required by the interface grpc.ServerStream
}

// Context implements grpc.ServerStream. The returned context contains the request id of the call.
func (s *serverStream) Context() context.Context { return s.ctx }

// received returns ctx with the request id from the metadata of the call. An id longer than 128 bytes is ignored.
func received(ctx context.Context) context.Context {
	ids := metadata.ValueFromIncomingContext(ctx, requestIDHeader)
	if len(ids) == 0 || ids[0] == "" || len(ids[0]) > 128 {
		return ctx
	}
	return telemetry.WithRequestID(ctx, ids[0])
}

// authenticate returns an error with codes.Unauthenticated unless the call has the link secret. It compares in constant
// time. Health checks need no secret.
func (g guard) authenticate(ctx context.Context, method string) error {
	if strings.HasPrefix(method, "/grpc.health.v1.Health/") {
		return nil
	}
	given := metadata.ValueFromIncomingContext(ctx, secretHeader)
	if len(given) != 1 {
		return status.Error(codes.Unauthenticated, "link secret is missing")
	}
	if !g.secret.Match(given[0]) {
		return status.Error(codes.Unauthenticated, "link secret is invalid")
	}
	return nil
}

// answer converts err to the status error that the caller receives. If err is nil, it returns nil. It logs internal errors and
// unavailability, because the status does not contain their cause.
func (g guard) answer(ctx context.Context, method string, err error) error {
	if err == nil {
		return nil
	}
	st := toStatus(err)
	switch f := apperr.Of(err); {
	case status.Code(st) == codes.Internal:
		g.log.ErrorContext(ctx, "grpc request failed", "method", method, "request_id", telemetry.RequestID(ctx), "error", err)
	case f.Kind == apperr.Unavailable:
		g.log.WarnContext(ctx, "grpc request failed", "method", method, "request_id", telemetry.RequestID(ctx), "error", err)
	}
	return st
}

func (g guard) panicked(ctx context.Context, method string, r any) error {
	g.log.ErrorContext(ctx, "grpc handler panicked", "method", method,
		"request_id", telemetry.RequestID(ctx), "panic", r, "stack", string(debug.Stack()))
	return status.Error(codes.Internal, apperr.ErrInternal.Code)
}
