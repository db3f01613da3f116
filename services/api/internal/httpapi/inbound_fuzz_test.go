package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// FuzzInbound checks that inbound handles the same bytes in the same way, whether they arrive in one part or in several. It
// must never buffer more than one message and one frame.
func FuzzInbound(f *testing.F) {
	f.Add([]byte("\x81\x82mask\x16\x1c"), 1)
	f.Add([]byte("\x01\x82\x00\x00\x00\x00{}\x89\x80\x00\x00\x00\x00\x80\x80\x00\x00\x00\x00\x88\x80\x00\x00\x00\x00"), 3)
	f.Add([]byte("\x81\xfe\x00\x7e\x00\x00\x00\x00"), 2)
	f.Add([]byte("\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00"), 5)
	const maxMessage = 64
	handled := func(b []byte, step int) (out string) {
		in := &inbound{frameLimiter: newFrameLimiter(1000, func() time.Time { return time.Unix(1, 0) }), maxMessage: maxMessage}
		in.handle = func(op ws.OpCode, payload []byte) (broker.Code, bool) {
			out += fmt.Sprintf("%d %q\n", op, payload)
			return broker.Code{Status: 1}, op != ws.OpClose
		}
		for len(b) > 0 {
			n := min(step, len(b))
			code, ok := in.consume(append([]byte(nil), b[:n]...))
			if !ok {
				return out + fmt.Sprint(code)
			}
			if len(in.partial) > ws.MaxHeaderSize+max(maxMessage, ws.MaxControlFramePayloadSize) || len(in.message) > maxMessage {
				return "too much is buffered"
			}
			b = b[n:]
		}
		return out
	}
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		whole, pieces := handled(b, len(b)), handled(b, max(step, 1))
		if whole != pieces || whole == "too much is buffered" {
			t.Errorf("%q: %s, in pieces of %d: %s", b, whole, step, pieces)
		}
	})
}
