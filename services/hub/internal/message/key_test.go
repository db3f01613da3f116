package message

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// The cases are computed. They cover all kinds of keys and signatures about which verifiers of Ed25519 are known to
// disagree.

var (
	prime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	order = func() *big.Int {
		o, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
		return o.Add(o, new(big.Int).Lsh(big.NewInt(1), 252))
	}()
)

// encoded returns a number as 32 bytes in little-endian order. sign sets the highest bit.
func encoded(n *big.Int, sign byte) []byte {
	out := n.FillBytes(make([]byte, 32))
	slices.Reverse(out)
	out[31] |= sign << 7
	return out
}

// torsion returns the eight points of small order. Any point of the curve, multiplied by the order of the prime group, is one of
// them.
func torsion(t testing.TB) []*edwards25519.Point {
	t.Helper()
	for y := int64(2); y < 1000; y++ {
		p, err := new(edwards25519.Point).SetBytes(encoded(big.NewInt(y), 0))
		if err != nil {
			continue
		}
		p.Add(p, new(edwards25519.Point).ScalarMult(minusOne, p))
		points := []*edwards25519.Point{edwards25519.NewIdentityPoint()}
		for q := new(edwards25519.Point).Set(p); q.Equal(points[0]) == 0; q = new(edwards25519.Point).Add(q, p) {
			points = append(points, q)
		}
		if len(points) == 8 {
			return points
		}
	}
	t.Fatal("no point of order eight")
	return nil
}

// smallEncodings returns all byte strings that a decoder accepts as a point of small order: eight canonical and six other
// encodings.
func smallEncodings(t testing.TB) (canonical, other [][]byte) {
	t.Helper()
	for _, p := range torsion(t) {
		canonical = append(canonical, p.Bytes())
	}
	one := big.NewInt(1)
	other = append(other,
		encoded(prime, 0), encoded(prime, 1), // y = 0
		encoded(new(big.Int).Add(prime, one), 0), encoded(new(big.Int).Add(prime, one), 1), // y = 1
		encoded(one, 1), encoded(new(big.Int).Sub(prime, one), 1), // x = 0 with a sign
	)
	return canonical, other
}

func seeded(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicKey(private ed25519.PrivateKey) Key {
	return Key(hex.EncodeToString(private.Public().(ed25519.PublicKey)))
}

func code(err error) string {
	f, _ := asFault(err)
	if f == nil {
		return ""
	}
	return f.Code
}

// TestWeakKeys (S36) checks that small-order, mixed-order and non-canonical keys are refused.
func TestWeakKeys(t *testing.T) {
	t.Parallel()
	canonical, other := smallEncodings(t)
	if len(canonical) != 8 || len(other) != 6 {
		t.Fatalf("%d canonical and %d other encodings, want 8 and 6", len(canonical), len(other))
	}
	for _, b := range slices.Concat(canonical, other) {
		if _, err := new(edwards25519.Point).SetBytes(b); err != nil {
			t.Errorf("%x is not a point of the curve, so the case tests nothing", b)
		}
		if _, err := ParseKey(hex.EncodeToString(b)); code(err) != "weak_key" {
			t.Errorf("%x: %v", b, err)
		}
	}
	good, err := new(edwards25519.Point).SetBytes(publicKey(seeded("good")).bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, small := range torsion(t) {
		mixed := new(edwards25519.Point).Add(good, small)
		_, err := ParseKey(hex.EncodeToString(mixed.Bytes()))
		if i == 0 && err != nil || i > 0 && code(err) != "weak_key" {
			t.Errorf("valid key plus small point %d: %v", i, err)
		}
	}
	undecodable := 0
	for y := int64(2); undecodable < 5; y++ {
		b := encoded(big.NewInt(y), 0)
		if _, err := new(edwards25519.Point).SetBytes(b); err == nil {
			continue
		}
		undecodable++
		if _, err := ParseKey(hex.EncodeToString(b)); code(err) != "weak_key" {
			t.Errorf("%x: %v", b, err)
		}
	}
	// For y from 3 to 18 there is a second encoding above the prime. None of these points has small order.
	for y := int64(3); y < 19; y++ {
		b := encoded(new(big.Int).Add(prime, big.NewInt(y)), 0)
		if _, err := ParseKey(hex.EncodeToString(b)); code(err) != "weak_key" {
			t.Errorf("%x: %v", b, err)
		}
	}
	for _, form := range []string{"", "00", string(publicKey(seeded("x")))[:63] + "G", string(publicKey(seeded("x"))) + "0"} {
		if _, err := ParseKey(form); code(err) != "invalid_request" {
			t.Errorf("%q: %v", form, err)
		}
	}
}

// TestUniversalSignature checks that a constant signature with a small-order key is never accepted. The standard library accepts
// it for many messages.
func TestUniversalSignature(t *testing.T) {
	t.Parallel()
	canonical, other := smallEncodings(t)
	constant := append(edwards25519.NewIdentityPoint().Bytes(), make([]byte, 32)...)
	library := 0
	for _, b := range slices.Concat(canonical, other) {
		for i := range 64 {
			data := binary.BigEndian.AppendUint32(nil, uint32(i))
			if ed25519.Verify(b, data, constant) {
				library++
			}
			if Key(hex.EncodeToString(b)).Verify(data, constant) {
				t.Errorf("the key %x accepts a constant signature of %x", b, data)
			}
		}
	}
	if library == 0 {
		t.Error("the standard library accepts none of the signatures, so the cases test nothing")
	}
}

func scalar(t testing.TB, b []byte) *edwards25519.Scalar {
	t.Helper()
	s, err := edwards25519.NewScalar().SetUniformBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hash(parts ...[]byte) []byte {
	sum := sha512.Sum512(slices.Concat(parts...))
	return sum[:]
}

// TestForgedSignatures checks signatures that were made without the key but satisfy the equation of some verifier. They use
// mixed-order and small-order commitments, mixed-order keys, and non-canonical encodings. Each must be refused by the check of
// the key or of the signature.
func TestForgedSignatures(t *testing.T) {
	t.Parallel()
	secret := scalar(t, hash([]byte("secret")))
	nonce := scalar(t, hash([]byte("nonce")))
	key := new(edwards25519.Point).ScalarBaseMult(secret)
	commit := new(edwards25519.Point).ScalarBaseMult(nonce)
	small := torsion(t)[1] // of order eight
	forge := func(a, r []byte, hidden *edwards25519.Scalar, data []byte) []byte {
		k := scalar(t, hash(r, a, data))
		s := edwards25519.NewScalar().MultiplyAdd(k, secret, hidden)
		return append(slices.Clone(r), s.Bytes()...)
	}
	mixed := new(edwards25519.Point).Add(key, small)
	mixedCommit := new(edwards25519.Point).Add(commit, small)
	identity := edwards25519.NewIdentityPoint()
	zero := edwards25519.NewScalar()
	one := new(big.Int).Add(prime, big.NewInt(1))
	for _, c := range []struct {
		name   string
		a, r   []byte
		hidden *edwards25519.Scalar
	}{
		{"mixed key", mixed.Bytes(), commit.Bytes(), nonce},
		{"mixed commitment", key.Bytes(), mixedCommit.Bytes(), nonce},
		{"both mixed", mixed.Bytes(), mixedCommit.Bytes(), nonce},
		{"small commitment", key.Bytes(), small.Bytes(), zero},
		{"identity commitment", key.Bytes(), identity.Bytes(), zero},
		{"small commitment, mixed key", mixed.Bytes(), small.Bytes(), zero},
		{"second encoding of the commitment", key.Bytes(), encoded(one, 0), zero},
		{"commitment of zero with a sign", key.Bytes(), encoded(big.NewInt(1), 1), zero},
	} {
		for i := range 32 {
			data := []byte{byte(i)}
			sig := forge(c.a, c.r, c.hidden, data)
			if _, err := ParseKey(hex.EncodeToString(c.a)); err == nil && Key(hex.EncodeToString(c.a)).Verify(data, sig) {
				t.Errorf("%s: message %d is accepted", c.name, i)
			}
		}
	}
	honest := forge(key.Bytes(), commit.Bytes(), nonce, []byte("data"))
	if !Key(hex.EncodeToString(key.Bytes())).Verify([]byte("data"), honest) {
		t.Error("a valid signature is refused, so the cases test nothing")
	}
}

// malleate returns the signature with the group order added to S.
func malleate(signature []byte) []byte {
	little := slices.Clone(signature[32:])
	slices.Reverse(little)
	return slices.Concat(signature[:32], encoded(new(big.Int).Add(new(big.Int).SetBytes(little), order), 0))
}

// TestMalleated (S44) checks that a valid signature that was modified without the key is refused.
func TestMalleated(t *testing.T) {
	t.Parallel()
	private, data := seeded("malleated"), []byte("data")
	key, good := publicKey(private), ed25519.Sign(private, data)
	if !key.Verify(data, good) {
		t.Fatal("the valid signature is refused")
	}
	little := slices.Clone(good[32:])
	slices.Reverse(little)
	s := new(big.Int).SetBytes(little)
	bad := map[string][]byte{
		"empty": nil, "half": good[:32], "short": good[:63], "long": append(slices.Clone(good), 0), "zero": make([]byte, 64),
		"S = 0":           slices.Concat(good[:32], make([]byte, 32)),
		"R = 0":           slices.Concat(make([]byte, 32), good[32:]),
		"S and R swapped": slices.Concat(good[32:], good[:32]),
	}
	for n := int64(1); ; n++ {
		more := new(big.Int).Add(s, new(big.Int).Mul(order, big.NewInt(n)))
		if more.BitLen() > 255 {
			break
		}
		bad["S + "+big.NewInt(n).String()+"L"] = slices.Concat(good[:32], encoded(more, 0))
	}
	bad["L - S"] = slices.Concat(good[:32], encoded(new(big.Int).Sub(order, s), 0))
	for bit := range 512 {
		flipped := slices.Clone(good)
		flipped[bit/8] ^= 1 << (bit % 8)
		bad["bit "+big.NewInt(int64(bit)).String()] = flipped
	}
	for name, sig := range bad {
		if key.Verify(data, sig) {
			t.Errorf("%s is accepted", name)
		}
	}
	if len(bad) < 520 || key.Verify([]byte("date"), good) || publicKey(seeded("other")).Verify(data, good) || Key("00").Verify(data, good) {
		t.Errorf("%d cases; the signature is valid for another message or key, or there are fewer than 520 cases", len(bad))
	}
}
