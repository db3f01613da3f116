package httpapi

import (
	"bytes"
	"errors"
	"io"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// inbound parses the frames of a client (RFC 6455, 5). It has no buffer while no frame is incomplete.
type inbound struct {
	frameLimiter *frameLimiter
	maxMessage   int // maximum size of a message in bytes
	handle       func(op ws.OpCode, payload []byte) (broker.Code, bool)
	partial      []byte // the received part of an incomplete frame
	admitted     bool   // admit was called for the incomplete frame
	fragmented   bool   // a message of several frames is incomplete
	message      []byte // the payload of its frames so far
}

// consume calls handle for every message and control frame that b completes, in order. It returns false and a close code if
// the connection must be closed. It changes b.
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

// admit checks the header of a frame before the payload is read.
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

// frame handles a complete frame.
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

// closeStatus returns the status of a close frame, and whether an endpoint may send this frame (RFC 6455, 7.4).
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
