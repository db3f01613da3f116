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

// taken reports whether a key can be registered and a signature with it is valid. One of the two checks must refuse an invalid case.
func taken(key, data, signature []byte) bool {
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

// TestEd25519 judges what other people's suites hold, and what is made here: each
// case is a test of its own, so that they can be counted. S36 and S44.
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
			if got := taken(key, data, signature); got != c.Valid {
				t.Errorf("%s: taken is %v", c.Note, got)
			}
		})
	}
	if len(file.Cases) < 157 || library != 5 {
		t.Errorf("%d cases; the standard library takes %d that are wrong: they show nothing", len(file.Cases), library)
	}
	canonical, other := smallEncodings(t)
	constant := append(torsion(t)[0].Bytes(), make([]byte, 32)...)
	for i, key := range slices.Concat(canonical, other) {
		t.Run(fmt.Sprintf("small-%d", i), func(t *testing.T) {
			for n := range 64 {
				if taken(key, []byte{byte(n)}, constant) {
					t.Errorf("%x signs %d", key, n)
				}
			}
		})
	}
	for i := range 16 {
		private, data := seeded(fmt.Sprint("more ", i)), []byte{byte(i)}
		key, good := publicKey(private).bytes(), ed25519.Sign(private, data)
		t.Run(fmt.Sprintf("honest-%d", i), func(t *testing.T) {
			if !taken(key, data, good) {
				t.Error("an honest signature is refused")
			}
		})
		t.Run(fmt.Sprintf("S+L-%d", i), func(t *testing.T) {
			if taken(key, data, malleate(good)) {
				t.Error("it is taken with the group order added")
			}
		})
	}
}
