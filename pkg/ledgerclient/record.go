package ledgerclient

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/signalcast/signalcast/pkg/grpcx"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// headWithin bounds the wait for the first message of a record. Without it, a ledger that hangs delays the answer until
// keepalive closes the connection.
const headWithin = time.Second

// ReadRecord passes the messages of an operator's whole record to take, up to the one with the counts. The ledger sends the
// next message after take has returned; an error of take ends the call and is returned. Faults: not_found, db_unavailable,
// and signal_service_unavailable, also if no message comes within headWithin or the record ends without its counts.
func (c *Client) ReadRecord(ctx context.Context, handle string, take func(*exportv1.RecordResponse) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(headWithin, cancel)
	stream, err := c.Exports.Record(ctx, &exportv1.RecordRequest{Handle: handle})
	if err != nil {
		return err // the stream opens at once: without a connection the call fails
	}
	for first := true; ; first = false {
		r, err := stream.Recv()
		switch {
		case first && !late.Stop(), errors.Is(err, io.EOF):
			return grpcx.ErrUnavailable
		case err != nil:
			return err
		}
		if err := take(r); err != nil || r.GetEnd() != nil {
			return err
		}
	}
}
