package message

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"

	"filippo.io/edwards25519"
)

// Numbers of hexadecimal digits of a public key and of a signature.
const (
	keyLetters       = 2 * ed25519.PublicKeySize
	signatureLetters = 2 * ed25519.SignatureSize
)

// Key is an Ed25519 public key, written as 64 lower-case hexadecimal digits.
type Key string

// ParseKey parses and validates the public key of a signer. Errors: invalid_request for an invalid format, weak_key for a key
// that no correct implementation generates.
func ParseKey(s string) (Key, error) {
	if !isHex(s, keyLetters) {
		return "", badMember("publicKey", "publicKey must be %d lower-case hexadecimal digits", keyLetters)
	}
	if k := Key(s); k.strong() {
		return k, nil
	}
	return "", ErrWeakKey
}

// bytes returns the 32 bytes of the key, or nil if the key has an invalid format.
func (k Key) bytes() []byte {
	b, err := hex.DecodeString(string(k))
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil
	}
	return b
}

// strong reports whether the key is the canonical encoding of a point of the prime-order group other than the identity.
// With other keys, one signature can be valid for several messages.
func (k Key) strong() bool {
	p := point(k.bytes())
	return p != nil && !small(p) && torsionFree(p)
}

// Verify reports whether signature is a signature of data by the key. It is stricter than crypto/ed25519: it refuses
// small-order keys, small-order commitments, and non-canonical encodings of points. crypto/ed25519 itself refuses a scalar
// that is not below the group order.
func (k Key) Verify(data, signature []byte) bool {
	key := k.bytes()
	if key == nil || len(signature) != ed25519.SignatureSize {
		return false
	}
	a, r := point(key), point(signature[:ed25519.PublicKeySize])
	if a == nil || r == nil || small(a) || small(r) {
		return false
	}
	return ed25519.Verify(key, data, signature)
}

// point decodes the canonical encoding of a curve point. It returns nil for any other input. SetBytes alone would also accept
// non-canonical encodings: coordinates above the field prime, and a set sign bit of a zero coordinate.
func point(encoded []byte) *edwards25519.Point {
	p, err := new(edwards25519.Point).SetBytes(encoded)
	if err != nil || !bytes.Equal(p.Bytes(), encoded) {
		return nil
	}
	return p
}

// small reports whether the order of the point divides eight, the cofactor of the curve.
func small(p *edwards25519.Point) bool {
	return new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1
}

// torsionFree reports whether the point is in the prime-order group: the group order times the point is the identity. A scalar
// must be below the order, so torsionFree computes (order - 1) times the point, plus the point.
func torsionFree(p *edwards25519.Point) bool {
	sum := new(edwards25519.Point).ScalarMult(minusOne, p)
	return sum.Add(sum, p).Equal(edwards25519.NewIdentityPoint()) == 1
}

var minusOne = func() *edwards25519.Scalar {
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic(err) // 1 is below the order
	}
	return one.Negate(one)
}()

// isHex reports whether s consists of exactly n lower-case hexadecimal digits.
func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
