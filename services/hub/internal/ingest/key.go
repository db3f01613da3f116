package ingest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// keyPrefix begins every key of ours.
const keyPrefix = "sk_"

// keyBytes are as much as nobody can guess.
const keyBytes = 24

// newKey makes the key of a stream.
func newKey() string {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // it never fails
	return keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// hashOf is what is kept of a key.
func hashOf(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// IsKey tells whether a text has the form of a key of ours, so that nothing else is
// ever looked up.
func IsKey(s string) bool {
	rest, ok := strings.CutPrefix(s, keyPrefix)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(keyBytes) {
		return false
	}
	return strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
