package httpapi

import (
	"bytes"
	"errors"
	"io"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// inbound reads the frames of a client (RFC 6455, 5). It has no buffer while no frame is incomplete.
type inbound struct {
	tempo   *tempo
	most    int // bytes of a message
	hear    func(op ws.OpCode, payload []byte) (broker.Code, bool)
	rest    []byte // the received part of an incomplete frame
	counted bool   // admit was called for that frame
	begun   bool   // a message in several frames has begun
	message []byte // its frames so far
}

// take calls hear for every message and control frame that b completes, in order. It reports whether the connection may stay
// open, or the code to close it with. It changes b.
func (i *inbound) take(b []byte) (broker.Code, bool) {
	if len(i.rest) > 0 {
		i.rest = append(i.rest, b...)
		b = i.rest
	}
	for {
		in := bytes.NewReader(b)
		h, err := ws.ReadHeader(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil { // a length of 2^63 bytes or more
			return broker.TooLarge, false
		}
		n := len(b) - in.Len()
		if !i.counted {
			i.counted = true
			if code, ok := i.admit(h); !ok {
				return code, false
			}
		}
		if int64(len(b)-n) < h.Length {
			break
		}
		i.counted = false
		payload := b[n : n+int(h.Length)]
		b = b[n+int(h.Length):]
		ws.Cipher(payload, h.Mask, 0)
		if code, ok := i.frame(h, payload); !ok {
			return code, false
		}
	}
	if i.rest = append(i.rest[:0], b...); len(b) == 0 {
		i.rest = nil
	}
	return broker.Code{}, true
}

// admit checks the header of a frame before its payload is read.
func (i *inbound) admit(h ws.Header) (broker.Code, bool) {
	state := ws.StateServerSide
	if i.begun {
		state = state.Set(ws.StateFragmented)
	}
	switch {
	case h.OpCode != ws.OpClose && !i.tempo.frame():
		return broker.RateLimited, false
	case !h.Masked, ws.CheckHeader(h, state) != nil:
		return broker.BrokenRules, false
	case h.OpCode.IsControl():
		return broker.Code{}, true
	case h.OpCode == ws.OpBinary:
		return broker.Unsupported, false
	case h.Length > int64(i.most-len(i.message)):
		return broker.TooLarge, false
	}
	return broker.Code{}, true
}

// frame handles a complete frame.
func (i *inbound) frame(h ws.Header, payload []byte) (broker.Code, bool) {
	if h.OpCode.IsControl() || h.OpCode == ws.OpText && h.Fin {
		return i.hear(h.OpCode, payload)
	}
	i.begun, i.message = !h.Fin, append(i.message, payload...)
	if !h.Fin {
		return broker.Code{}, true
	}
	whole := i.message
	i.message = nil
	return i.hear(ws.OpText, whole)
}

// closing returns the status of a close frame, and whether the frame may be sent (RFC 6455, 7.4).
func closing(payload []byte) (status int, ok bool) {
	if len(payload) == 0 {
		return broker.Normal.Status, true
	}
	code, reason := ws.ParseCloseFrameData(payload)
	checked := code
	if code >= 1012 && code <= 1014 { // registered with IANA after RFC 6455: the library refuses them
		checked = ws.StatusInternalServerError
	}
	return int(code), len(payload) > 1 && code < 5000 && ws.CheckCloseFrameData(checked, reason) == nil
}
