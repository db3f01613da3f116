package link

import (
	"context"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/fault"
)

// Enclose gives an error the form in which it travels inside an answer that
// stands for many calls; it is logged as that call's own error would be. Nil for
// no error.
func (s *Server) Enclose(ctx context.Context, method, requestID string, err error) []byte {
	if err == nil {
		return nil
	}
	st := s.guard.answer(WithRequestID(ctx, requestID), method, err)
	raw, encodeErr := proto.Marshal(status.Convert(st).Proto())
	if encodeErr != nil {
		return s.Enclose(ctx, method, requestID, fault.ErrInternal.Wrap(encodeErr))
	}
	return raw
}

// Disclose reads what Enclose wrote: the error that the call would have got on
// its own, with ErrUnavailable for a peer that did not answer.
func Disclose(ctx context.Context, enclosed []byte) error {
	if len(enclosed) == 0 {
		return nil
	}
	var st spb.Status
	if err := proto.Unmarshal(enclosed, &st); err != nil {
		return fault.ErrInternal.Wrap(err)
	}
	err := status.ErrorProto(&st)
	sent := new(sending)
	sent.out.Store(true)
	return &callError{err: fromStatus(ctx, err, ErrUnavailable), ran: mayHaveRun(err, sent)}
}
