package message

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/signalcast/signalcast/proto/testvectors"
)

// accepted reports whether a key can be registered and its signature is valid. For an invalid case, one of the two checks must
// fail.
func accepted(key, data, signature []byte) bool {
	k, err := ParseKey(hex.EncodeToString(key))
	return err == nil && k.Verify(data, signature)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEd25519 (S36, S44) checks keys and signatures of public test suites and generated ones. Each case is a subtest.
func TestEd25519(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Source                        string
			ID                            int
			Note                          string
			PublicKey, Message, Signature string
			Valid                         bool
		}
	}
	if err := json.Unmarshal(testvectors.Ed25519, &file); err != nil {
		t.Fatal(err)
	}
	library := 0
	for _, c := range file.Cases {
		key, data, signature := unhex(t, c.PublicKey), unhex(t, c.Message), unhex(t, c.Signature)
		if ed25519.Verify(key, data, signature) && !c.Valid {
			library++
		}
		t.Run(fmt.Sprintf("%s-%d", c.Source, c.ID), func(t *testing.T) {
			if got := accepted(key, data, signature); got != c.Valid {
				t.Errorf("%s: accepted is %v", c.Note, got)
			}
		})
	}
	if len(file.Cases) < 157 || library != 5 {
		t.Errorf("%d cases, of which the standard library accepts %d invalid ones; want at least 157 and exactly 5", len(file.Cases), library)
	}
	canonical, other := smallEncodings(t)
	constant := append(torsion(t)[0].Bytes(), make([]byte, 32)...)
	for i, key := range slices.Concat(canonical, other) {
		t.Run(fmt.Sprintf("small-%d", i), func(t *testing.T) {
			for n := range 64 {
				if accepted(key, []byte{byte(n)}, constant) {
					t.Errorf("the small-order key %x accepts a signature of message %d", key, n)
				}
			}
		})
	}
	for i := range 16 {
		private, data := seeded(fmt.Sprint("more ", i)), []byte{byte(i)}
		key, good := publicKey(private).bytes(), ed25519.Sign(private, data)
		t.Run(fmt.Sprintf("honest-%d", i), func(t *testing.T) {
			if !accepted(key, data, good) {
				t.Error("a valid signature is refused")
			}
		})
		t.Run(fmt.Sprintf("S+L-%d", i), func(t *testing.T) {
			if accepted(key, data, malleate(good)) {
				t.Error("the signature with the group order added to S is accepted")
			}
		})
	}
}
