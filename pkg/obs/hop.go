package obs

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// The interceptors below carry traceparent over a hop when no spans are made.
// They cost nothing for requests that came without one, where the full
// instrumentation costs microseconds a call.

// carrier is gRPC metadata as the propagator sees it.
type carrier metadata.MD

func (c carrier) Get(key string) string {
	if v := metadata.MD(c).Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

func (c carrier) Set(key, value string) { metadata.MD(c).Set(key, value) }

func (c carrier) Keys() []string {
	out := make([]string, 0, len(c))
	for k := range c {
		out = append(out, k)
	}
	return out
}

func (t *Tracing) outgoing(ctx context.Context) context.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	md, _ := metadata.FromOutgoingContext(ctx) // a copy
	if md == nil {
		md = metadata.MD{}
	}
	t.prop.Inject(ctx, carrier(md))
	return metadata.NewOutgoingContext(ctx, md)
}

func (t *Tracing) incoming(ctx context.Context) context.Context {
	if len(metadata.ValueFromIncomingContext(ctx, "traceparent")) == 0 {
		return ctx
	}
	md, _ := metadata.FromIncomingContext(ctx)
	return t.prop.Extract(ctx, carrier(md))
}

func (t *Tracing) unaryClient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(t.outgoing(ctx), method, req, reply, cc, opts...)
}

func (t *Tracing) streamClient(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return stream(t.outgoing(ctx), desc, cc, method, opts...)
}

func (t *Tracing) unaryServer(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	return handle(t.incoming(ctx), req)
}

func (t *Tracing) streamServer(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if ctx := t.incoming(ss.Context()); ctx != ss.Context() {
		ss = &tracedStream{ss, ctx}
	}
	return handle(srv, ss)
}

type tracedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *tracedStream) Context() context.Context { return s.ctx }
