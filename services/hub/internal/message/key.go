package message

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"

	"filippo.io/edwards25519"
)

// Lengths of keys and signatures in hexadecimal letters.
const (
	keyLetters       = 2 * ed25519.PublicKeySize
	signatureLetters = 2 * ed25519.SignatureSize
)

// Key is an Ed25519 public key: 64 lower-case hexadecimal letters.
type Key string

// ParseKey reads a public key that may sign. Faults: invalid_request for
// another form, weak_key for a key that a careful signer cannot have.
func ParseKey(s string) (Key, error) {
	if !isHex(s, keyLetters) {
		return "", badMember("publicKey", "publicKey is %d lower-case hexadecimal letters", keyLetters)
	}
	if k := Key(s); k.strong() {
		return k, nil
	}
	return "", ErrWeakKey
}

// bytes is the key as the curve encodes it; nil when it has another form.
func (k Key) bytes() []byte {
	b, err := hex.DecodeString(string(k))
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil
	}
	return b
}

// strong wants a point in its one encoding, of the prime-order group and not
// its identity. With any other key one signature can fit many messages.
func (k Key) strong() bool {
	p := point(k.bytes())
	return p != nil && !small(p) && torsionFree(p)
}

// Verify tells whether signature is the key's own over data. It takes less than
// the standard library: no small-order key or commitment, no second encoding of
// a point. The library refuses S of the group order and above itself.
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

// point decodes the one encoding of a point; nil for anything else. The curve's
// decoder takes coordinates above the field's prime, and the sign of a zero.
func point(encoded []byte) *edwards25519.Point {
	p, err := new(edwards25519.Point).SetBytes(encoded)
	if err != nil || !bytes.Equal(p.Bytes(), encoded) {
		return nil
	}
	return p
}

// small reports one of the eight points whose order divides eight.
func small(p *edwards25519.Point) bool {
	return new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1
}

// torsionFree reports a point of the prime-order group: the order times the
// point is the identity. A scalar is less than the order, so one is added.
func torsionFree(p *edwards25519.Point) bool {
	sum := new(edwards25519.Point).ScalarMult(minusOne, p)
	return sum.Add(sum, p).Equal(edwards25519.NewIdentityPoint()) == 1
}

var minusOne = func() *edwards25519.Scalar {
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic(err) // one is less than the order
	}
	return one.Negate(one)
}()

// isHex wants exactly n lower-case hexadecimal letters: one spelling of a value.
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
