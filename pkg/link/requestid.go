package link

import (
	"context"

	"google.golang.org/grpc/metadata"
)

const (
	secretHeader    = "x-link-secret"
	requestIDHeader = "x-request-id"
)

type requestIDKey struct{}

// WithRequestID returns a context whose outgoing calls carry id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id that came with the call, or that WithRequestID set; empty
// when there is none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// received takes the request id out of the incoming metadata.
func received(ctx context.Context) context.Context {
	ids := metadata.ValueFromIncomingContext(ctx, requestIDHeader)
	if len(ids) == 0 || ids[0] == "" || len(ids[0]) > 128 {
		return ctx
	}
	return WithRequestID(ctx, ids[0])
}
