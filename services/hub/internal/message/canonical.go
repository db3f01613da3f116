package message

import (
	"bytes"
	"fmt"

	"github.com/gowebpki/jcs"
)

// PerMinute is the maximum number of messages that a signing key may send in a minute.
const PerMinute = 30

// Maximum size of a message in bytes of JSON, and maximum nesting depth.
const (
	MaxSize  = 32 << 10
	MaxDepth = 16
)

// Prefixes of the bytes that a signature covers. MessagePrefix is for messages, and SignerPrefix is for registrations of
// signers. Because they differ, a signature of one kind is invalid as the other kind.
const (
	MessagePrefix = "denpa-message-v1"
	SignerPrefix  = "denpa-signer-v1"
)

// Canonical returns the canonical form (RFC 8785) of a JSON text. It refuses texts that parsers can interpret differently:
// duplicate members, invalid UTF-8, lone surrogates, numbers out of the range of a double, and invalid JSON. It also refuses
// texts that exceed MaxSize or MaxDepth. Errors: payload_too_large, invalid_request with reason not_canonicalizable.
func Canonical(raw []byte) ([]byte, error) {
	if len(raw) > MaxSize {
		return nil, ErrTooLarge
	}
	// The depth is checked first, because the canonicalizer is recursive.
	if depth(raw) > MaxDepth {
		return nil, invalid(ReasonCanonical, "a message must be nested at most %d levels deep", MaxDepth)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, invalid(ReasonCanonical, "the body is empty; a message must be a JSON object")
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, invalid(ReasonCanonical, "the body has no canonical JSON form (RFC 8785): %s", err)
	}
	return out, nil
}

// depth returns the nesting depth of arrays and objects in a JSON text. For invalid JSON, it returns at least the depth that a
// parser could reach.
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

// signedBytes returns the bytes that a signature covers: the prefix, the issuer and the canonical form, separated by line feeds.
func signedBytes(prefix, issuer string, canonical []byte) []byte {
	return fmt.Appendf(nil, "%s\n%s\n%s", prefix, issuer, canonical)
}
