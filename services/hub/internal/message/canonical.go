package message

import (
	"bytes"
	"fmt"

	"github.com/gowebpki/jcs"
)

// PerMinute is the number of messages that a public key may send in any minute.
const PerMinute = 30

// Bounds of a message as it arrives.
const (
	MaxSize  = 32 << 10
	MaxDepth = 16
)

// Prefixes of what is signed. They differ, so that no signature of one kind can
// stand for the other.
const (
	MessagePrefix = "denpa-message-v1"
	SignerPrefix  = "denpa-signer-v1"
)

// Canonical gives the canonical form (RFC 8785) of a JSON text. It refuses what
// has none or more than one reading: duplicate members, bad UTF-8, lone
// surrogates, numbers that no double holds, and text that is not JSON. Faults:
// payload_too_large, invalid_request with reason not_canonicalizable.
func Canonical(raw []byte) ([]byte, error) {
	if len(raw) > MaxSize {
		return nil, ErrTooLarge
	}
	// The canonicaliser recurses, so how deep is asked first.
	if depth(raw) > MaxDepth {
		return nil, invalid(ReasonCanonical, "a message is nested at most %d deep", MaxDepth)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, invalid(ReasonCanonical, "%sit is empty", messageNotReadable)
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, invalid(ReasonCanonical, "%s%s", messageNotReadable, err)
	}
	return out, nil
}

// depth counts how deep arrays and objects are nested. On text that is not JSON
// it never answers less than a JSON reader could reach.
func depth(raw []byte) int {
	deep, deepest, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			deep++
			deepest = max(deepest, deep)
		case c == '}', c == ']':
			deep--
		}
	}
	return deepest
}

// signed is what a signature covers.
func signed(prefix, issuer string, canonical []byte) []byte {
	return fmt.Appendf(nil, "%s\n%s\n%s", prefix, issuer, canonical)
}
