package world

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"strings"
)

// IDs makes the long identifiers of a market and reads them back without a
// table: each carries the market's number, hidden under a hash of it, so a
// universe of any size needs no memory for look-ups.
type IDs struct{ Seed uint64 }

// Condition is 0x and 64 hexadecimal digits.
func (g IDs) Condition(id int64) string { return "0x" + hex.EncodeToString(g.seal("condition", id, 0)) }

// Question is the oracle's own number of the question, of the same form.
func (g IDs) Question(id int64) string { return "0x" + hex.EncodeToString(g.seal("question", id, 0)) }

// NegRisk is the number that joins the markets of a one-winner event.
func (g IDs) NegRisk(event string) string {
	h := sha256.Sum256([]byte("negrisk" + event))
	return "0x" + hex.EncodeToString(h[:])
}

// Token is the decimal number of one outcome, about 77 digits.
func (g IDs) Token(id int64, outcome int) string {
	return new(big.Int).SetBytes(g.seal("token", id, outcome)).String()
}

// FromCondition finds the market number in a condition id made by Condition.
func (g IDs) FromCondition(s string) (int64, bool) {
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.ToLower(s), "0x"))
	if err != nil || len(raw) != 32 {
		return 0, false
	}
	id, _, ok := g.open("condition", raw)
	return id, ok
}

// FromToken finds market number and outcome in a token made by Token.
func (g IDs) FromToken(s string) (id int64, outcome int, ok bool) {
	if len(s) < 60 || len(s) > 78 {
		return 0, 0, false
	}
	n, good := new(big.Int).SetString(s, 10)
	if !good || n.Sign() <= 0 || n.BitLen() > 256 {
		return 0, 0, false
	}
	return g.open("token", n.FillBytes(make([]byte, 32)))
}

// seal lays out 22 bytes of hash and 10 bytes of number masked by another hash.
// The top byte keeps a token below 10^77 and above 10^75.
func (g IDs) seal(kind string, id int64, outcome int) []byte {
	h := g.hash(kind, id, outcome)
	out := make([]byte, 32)
	copy(out, h[:22])
	out[0] = out[0]&0x7f | 0x10
	var body [10]byte
	binary.BigEndian.PutUint64(body[:8], uint64(id))
	body[8] = byte(outcome)
	mask := g.mask(kind, out[:22])
	for i := range body {
		out[22+i] = body[i] ^ mask[i]
	}
	return out
}

func (g IDs) open(kind string, raw []byte) (id int64, outcome int, ok bool) {
	mask := g.mask(kind, raw[:22])
	var body [10]byte
	for i := range body {
		body[i] = raw[22+i] ^ mask[i]
	}
	id, outcome = int64(binary.BigEndian.Uint64(body[:8])), int(body[8])
	if id <= 0 || string(g.seal(kind, id, outcome)) != string(raw) {
		return 0, 0, false
	}
	return id, outcome, true
}

func (g IDs) hash(kind string, id int64, outcome int) [32]byte {
	var b [24]byte
	binary.BigEndian.PutUint64(b[:8], g.Seed)
	binary.BigEndian.PutUint64(b[8:16], uint64(id))
	binary.BigEndian.PutUint64(b[16:], uint64(outcome))
	return sha256.Sum256(append([]byte(kind), b[:]...))
}

func (g IDs) mask(kind string, head []byte) [32]byte {
	return sha256.Sum256(append([]byte("mask"+kind), head...))
}
