package ledgerclient

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/signalcast/signalcast/pkg/grpcx"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// firstMessageTimeout is the timeout of the first message of a record. Without it, an api that does not respond would block
// the caller until keepalive closes the connection.
const firstMessageTimeout = time.Second

// ReadRecord passes each message of an operator's complete record to the function take, up to and including the message with the
// counts. If take returns an error, ReadRecord ends the call and returns that error. Errors: not_found, db_unavailable, and
// signal_service_unavailable. The latter is also returned if no message arrives within firstMessageTimeout or the record ends
// without its counts.
func (c *Client) ReadRecord(ctx context.Context, handle string, take func(*exportv1.RecordResponse) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(firstMessageTimeout, cancel)
	stream, err := c.Exports.Record(ctx, &exportv1.RecordRequest{Handle: handle})
	if err != nil {
		return err // without a connection the call fails at once
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
