package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// Prefixes of the one key family.
const (
	PrefixKey   = "dk_"
	PrefixAgent = "db_live_"
)

// newKey makes a plaintext key: the prefix and 32 random bytes in base64url.
func newKey(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash is what is stored of a key.
func Hash(plaintext string) []byte {
	h := sha256.Sum256([]byte(plaintext))
	return h[:]
}
