package memledger

import (
	"google.golang.org/grpc"

	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// Record streams what the test put there.
func (l *Ledger) Record(r *exportv1.RecordRequest, stream grpc.ServerStreamingServer[exportv1.RecordResponse]) error {
	l.Lock()
	l.Calls["Record"]++
	before, cut := l.Before, l.Cut
	parts, ok := l.Exports[r.GetHandle()]
	l.Unlock()
	if before != nil {
		if err := before(stream.Context(), "Record"); err != nil {
			return err
		}
	}
	if !ok {
		return ErrNotFound
	}
	for _, part := range parts {
		if part.GetEnd() != nil && cut != nil {
			return cut
		}
		if err := stream.Send(part); err != nil {
			return err
		}
	}
	return nil
}
