package grpcx

import (
	"context"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/telemetry"
)

// Enclose encodes the error of one call for an answer that contains the results of many calls. It logs the error as that of a single
// call. It returns nil if err is nil.
func (s *Server) Enclose(ctx context.Context, method, requestID string, err error) []byte {
	if err == nil {
		return nil
	}
	st := s.guard.answer(telemetry.WithRequestID(ctx, requestID), method, err)
	raw, encodeErr := proto.Marshal(status.Convert(st).Proto())
	if encodeErr != nil {
		return s.Enclose(ctx, method, requestID, apperr.ErrInternal.Wrap(encodeErr))
	}
	return raw
}

// Disclose decodes an error that Enclose encoded. It returns the error that a single call would have returned.
func Disclose(ctx context.Context, enclosed []byte) error {
	if len(enclosed) == 0 {
		return nil
	}
	var st spb.Status
	if err := proto.Unmarshal(enclosed, &st); err != nil {
		return apperr.ErrInternal.Wrap(err)
	}
	return fromStatus(ctx, status.ErrorProto(&st), ErrUnavailable)
}
