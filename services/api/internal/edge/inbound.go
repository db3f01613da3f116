package edge

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/signalcast/signalcast/services/api/internal/live"
)

// The kinds of frames (RFC 6455, 5.2).
const (
	opPiece  = 0x0
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xa
)

const (
	finalBit = 0x80 // of a frame's first byte
	maskBit  = 0x80 // of its second
	// headMost is the longest head: two bytes, eight of length, four of mask.
	headMost = 14
	// controlMost is how long the payload of a control frame may be.
	controlMost = 125
)

// inbound takes apart what a client sends (RFC 6455, 5), for the goroutine that reads.
// While the client is silent it holds nothing.
type inbound struct {
	tempo   *tempo
	most    int // bytes of a message
	hear    func(op byte, payload []byte) (live.Code, bool)
	rest    []byte // of a frame that has not come whole
	counted bool   // that frame
	begun   bool   // a message in pieces
	message []byte // its pieces
}

// frameHead is the head of a frame.
type frameHead struct {
	first byte
	size  uint64 // of the payload
	mask  [4]byte
	bare  bool // it has no mask
}

// parseHead reads the head of a frame; n is 0 while it is not whole.
func parseHead(b []byte) (h frameHead, n int) {
	if len(b) < 2 {
		return h, 0
	}
	h.first, h.size, h.bare, n = b[0], uint64(b[1]&^maskBit), b[1]&maskBit == 0, 2
	switch h.size {
	case 126:
		if n += 2; len(b) < n {
			return h, 0
		}
		h.size = uint64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		if n += 8; len(b) < n {
			return h, 0
		}
		h.size = binary.BigEndian.Uint64(b[2:])
	}
	if h.bare {
		return h, n
	}
	if n += len(h.mask); len(b) < n {
		return h, 0
	}
	copy(h.mask[:], b[n-len(h.mask):n])
	return h, n
}

// take hands every message and control frame that b completes to hear, in order, and
// tells whether the client may go on; else why not. The caller may use b again
// afterwards, and finds it changed.
func (i *inbound) take(b []byte) (live.Code, bool) {
	if len(i.rest) > 0 {
		i.rest = append(i.rest, b...)
		b = i.rest
	}
	for {
		h, n := parseHead(b)
		if n == 0 {
			break
		}
		if !i.counted {
			i.counted = true
			if code, ok := i.admit(h); !ok {
				return code, false
			}
		}
		if uint64(len(b)-n) < h.size {
			break
		}
		i.counted = false
		payload := b[n : n+int(h.size)]
		b = b[n+int(h.size):]
		for j := range payload {
			payload[j] ^= h.mask[j&3]
		}
		if code, ok := i.frame(h.first, payload); !ok {
			return code, false
		}
	}
	if i.rest = append(i.rest[:0], b...); len(b) == 0 {
		i.rest = nil
	}
	return live.Code{}, true
}

// admit judges a frame by its head, before any of its payload is waited for.
func (i *inbound) admit(h frameHead) (live.Code, bool) {
	op, control := h.first&0x0f, h.first&0x08 != 0
	switch {
	case op != opClose && !i.tempo.frame():
		return live.RateLimited, false
	case h.bare, h.first&0x70 != 0: // no mask; bits of an extension, of which we have none
		return live.BrokenRules, false
	case control && (op > opPong || h.first&finalBit == 0 || h.size > controlMost):
		return live.BrokenRules, false
	case control:
		return live.Code{}, true
	case op > opBinary, (op == opPiece) != i.begun:
		return live.BrokenRules, false
	case op == opBinary:
		return live.Unsupported, false
	case h.size > uint64(i.most-len(i.message)):
		return live.TooLarge, false
	}
	return live.Code{}, true
}

// frame takes a whole frame.
func (i *inbound) frame(first byte, payload []byte) (live.Code, bool) {
	op, final := first&0x0f, first&finalBit != 0
	switch {
	case op >= opClose:
		return i.hear(op, payload)
	case op == opText && final:
		return i.hear(opText, payload)
	}
	i.begun, i.message = !final, append(i.message, payload...)
	if !final {
		return live.Code{}, true
	}
	whole := i.message
	i.message = nil
	return i.hear(opText, whole)
}

// closing reads the payload of a close frame: whether it is one that may be sent.
func closing(payload []byte) (status int, ok bool) {
	switch {
	case len(payload) == 0:
		return live.Normal.Status, true
	case len(payload) == 1, !utf8.Valid(payload[2:]):
		return 0, false
	}
	status = int(binary.BigEndian.Uint16(payload))
	unsaid := []int{1004, 1005, 1006} // only ever found out, never sent
	return status, status >= 1000 && status <= 1014 && !slices.Contains(unsaid, status) || status >= 3000 && status <= 4999
}
