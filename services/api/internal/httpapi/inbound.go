package httpapi

import (
	"bytes"
	"errors"
	"io"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// inbound parses the frames that a client sends (RFC 6455, 5). It buffers only incomplete frames and the fragments of
// incomplete messages.
type inbound struct {
	frameLimiter *frameLimiter
	maxMessage   int // maximum size of a message in bytes
	handle       func(op ws.OpCode, payload []byte) (broker.Code, bool)
	partial      []byte // the received part of an incomplete frame
	admitted     bool   // admit has accepted the header of the incomplete frame
	fragmented   bool   // a message of several frames is not complete yet
	message      []byte // payload of the received frames of that message
}

// consume parses b, the next bytes of the client. It calls the function handle for every message and control frame that b
// completes, in order. If the connection must be closed, it returns the close code and false. It changes the bytes of b.
func (i *inbound) consume(b []byte) (broker.Code, bool) {
	if len(i.partial) > 0 {
		i.partial = append(i.partial, b...)
		b = i.partial
	}
	for {
		in := bytes.NewReader(b)
		h, err := ws.ReadHeader(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil { // the length is 2^63 bytes or more
			return broker.TooLarge, false
		}
		n := len(b) - in.Len()
		if !i.admitted {
			i.admitted = true
			if code, ok := i.admit(h); !ok {
				return code, false
			}
		}
		if int64(len(b)-n) < h.Length {
			break
		}
		i.admitted = false
		payload := b[n : n+int(h.Length)]
		b = b[n+int(h.Length):]
		ws.Cipher(payload, h.Mask, 0)
		if code, ok := i.frame(h, payload); !ok {
			return code, false
		}
	}
	if i.partial = append(i.partial[:0], b...); len(b) == 0 {
		i.partial = nil
	}
	return broker.Code{}, true
}

// admit checks the header of a frame before its payload is read. If the frame must not be read, it returns the close code and
// false.
func (i *inbound) admit(h ws.Header) (broker.Code, bool) {
	state := ws.StateServerSide
	if i.fragmented {
		state = state.Set(ws.StateFragmented)
	}
	switch {
	case h.OpCode != ws.OpClose && !i.frameLimiter.allow():
		return broker.RateLimited, false
	case !h.Masked, ws.CheckHeader(h, state) != nil:
		return broker.BrokenRules, false
	case h.OpCode.IsControl():
		return broker.Code{}, true
	case h.OpCode == ws.OpBinary:
		return broker.Unsupported, false
	case h.Length > int64(i.maxMessage-len(i.message)):
		return broker.TooLarge, false
	}
	return broker.Code{}, true
}

// frame handles a complete frame. It passes control frames and complete messages to the function handle, and collects the
// other fragments. If the connection must be closed, it returns the close code and false.
func (i *inbound) frame(h ws.Header, payload []byte) (broker.Code, bool) {
	if h.OpCode.IsControl() || h.OpCode == ws.OpText && h.Fin {
		return i.handle(h.OpCode, payload)
	}
	i.fragmented, i.message = !h.Fin, append(i.message, payload...)
	if !h.Fin {
		return broker.Code{}, true
	}
	complete := i.message
	i.message = nil
	return i.handle(ws.OpText, complete)
}

// closeStatus returns the status of a client's close frame, or the status of broker.Normal if the frame has none. ok is false
// if RFC 6455, 7.4, does not allow a client to send the frame.
func closeStatus(payload []byte) (status int, ok bool) {
	if len(payload) == 0 {
		return broker.Normal.Status, true
	}
	code, reason := ws.ParseCloseFrameData(payload)
	checked := code
	if code >= 1012 && code <= 1014 { // registered with IANA after RFC 6455; the library rejects them
		checked = ws.StatusInternalServerError
	}
	return int(code), len(payload) > 1 && code < 5000 && ws.CheckCloseFrameData(checked, reason) == nil
}
