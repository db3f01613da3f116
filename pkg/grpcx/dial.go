package grpcx

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/telemetry"
)

const (
	maxMessage     = 8 << 20
	defaultTimeout = 2 * time.Second

	secretHeader    = "x-link-secret"
	requestIDHeader = "x-request-id"
)

// ErrUnavailable is the default error of a gRPC request if the other service is unavailable or does not answer in time.
var ErrUnavailable = apperr.New(apperr.Unavailable, "signal_service_unavailable",
	"the signal service is unavailable; retry in 1 s").
	With("retryAfterMs", 1000)

// DialConfig configures a gRPC connection to another service. Addr (host:port) and Secret (the link secret, which both services
// have) are required.
type DialConfig struct {
	Addr        string
	Secret      string
	Timeout     time.Duration // timeout of a request without a deadline in its context; 0: 2 s
	Unavailable *apperr.Fault // error if the service does not answer; nil: ErrUnavailable
	Options     []grpc.DialOption
}

// Dial returns a connection that connects in the background, so that services may start in any order. While the other service is
// unavailable, requests fail at once, and the pauses between connection attempts are shorter than one second. Dial returns an
// error if Addr or Secret is empty.
func Dial(cfg DialConfig) (*grpc.ClientConn, error) {
	if cfg.Addr == "" || cfg.Secret == "" {
		return nil, errors.New("dial: address and link secret are required")
	}
	c := caller{secret: cfg.Secret, timeout: cfg.Timeout, unavailable: cfg.Unavailable}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.unavailable == nil {
		c.unavailable = ErrUnavailable
	}
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 800 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second, PermitWithoutStream: true}),
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithChainUnaryInterceptor(c.unary),
		grpc.WithChainStreamInterceptor(c.stream),
	}, cfg.Options...)
	conn, err := grpc.NewClient(cfg.Addr, options...)
	if err != nil {
		return nil, err
	}
	conn.Connect()
	return conn, nil
}

type caller struct {
	secret      string
	timeout     time.Duration
	unavailable *apperr.Fault
}

func (c caller) outgoing(ctx context.Context) context.Context {
	if id := telemetry.RequestID(ctx); id != "" {
		return metadata.AppendToOutgoingContext(ctx, secretHeader, c.secret, requestIDHeader, id)
	}
	return metadata.AppendToOutgoingContext(ctx, secretHeader, c.secret)
}

func (c caller) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return fromStatus(ctx, invoke(c.outgoing(ctx), method, req, reply, conn, opts...), c.unavailable)
}

// stream is the interceptor for streams. It adds the link secret and the request id to the metadata and converts errors with
// fromStatus. It sets no deadline, because a stream lasts as long as its context.
func (c caller) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(c.outgoing(ctx), desc, conn, method, opts...)
	if err != nil {
		return nil, fromStatus(ctx, err, c.unavailable)
	}
	return &clientStream{ClientStream: s, caller: ctx, unavailable: c.unavailable}, nil
}

type clientStream struct {
	grpc.ClientStream
	caller      context.Context // context of the caller; that of the stream is canceled when the stream fails
	unavailable *apperr.Fault
}

// RecvMsg implements grpc.ClientStream. It converts errors like those of a unary call. It returns io.EOF unchanged, which marks
// the regular end of the stream.
func (s *clientStream) RecvMsg(m any) error {
	return fromStatus(s.caller, s.ClientStream.RecvMsg(m), s.unavailable)
}
