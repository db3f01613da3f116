package grpcx

import (
	"context"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/telemetry"
)

// EncodeError encodes err for a response that contains the results of many calls. It logs err like the error of a
// single call of method. It returns nil if err is nil.
func (s *Server) EncodeError(ctx context.Context, method, requestID string, err error) []byte {
	if err == nil {
		return nil
	}
	st := s.guard.answer(telemetry.WithRequestID(ctx, requestID), method, err)
	raw, encodeErr := proto.Marshal(status.Convert(st).Proto())
	if encodeErr != nil {
		return s.EncodeError(ctx, method, requestID, apperr.ErrInternal.Wrap(encodeErr))
	}
	return raw
}

// DecodeError decodes an error that EncodeError encoded. It returns the error that a single call would have returned, or nil
// if enclosed is empty.
func DecodeError(ctx context.Context, enclosed []byte) error {
	if len(enclosed) == 0 {
		return nil
	}
	var st spb.Status
	if err := proto.Unmarshal(enclosed, &st); err != nil {
		return apperr.ErrInternal.Wrap(err)
	}
	return fromStatus(ctx, status.ErrorProto(&st), ErrUnavailable)
}
