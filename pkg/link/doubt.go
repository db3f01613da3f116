package link

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// MayHaveRun tells whether the call behind err may have taken effect at the other
// end all the same. It is false when the request never left, and when the peer
// refused it with a fault other than an unavailable one.
func MayHaveRun(err error) bool {
	if err == nil {
		return false
	}
	var call *callError
	return !errors.As(err, &call) || call.ran
}

// callError carries what is known about a failed call beside its fault.
type callError struct {
	err error
	ran bool
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

// sending notes whether the request of one call was written to a connection.
type sending struct{ out atomic.Bool }

type sendingKey struct{}

// sendWatch is told by the transport when a request is written.
type sendWatch struct{}

func (sendWatch) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (sendWatch) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.OutPayload); !ok {
		return
	}
	if sent, ok := ctx.Value(sendingKey{}).(*sending); ok {
		sent.out.Store(true)
	}
}

func (sendWatch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (sendWatch) HandleConn(context.Context, stats.ConnStats) {}

func mayHaveRun(err error, sent *sending) bool {
	if !sent.out.Load() {
		return false
	}
	st, ok := status.FromError(err)
	if !ok {
		return true
	}
	info := ours(st)
	switch {
	case info != nil && info.GetReason() == tooLateCode:
		return false
	case info != nil:
		return st.Code() == codes.Unavailable
	default:
		return st.Code() != codes.Unauthenticated && st.Code() != codes.Unimplemented
	}
}
