package grant

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
)

// What secrets begin with. A prefix names the one place that a secret is for.
const (
	AccessPrefix  = "dat_"
	RefreshPrefix = "drt_"
	codePrefix    = "dac_"
	secretPrefix  = "das_"
	requestPrefix = "dar_"
)

// Hash is the SHA-256 of a secret: all that is ever stored of one. At 256
// random bits it needs no salt.
type Hash [sha256.Size]byte

func hashOf(plaintext string) Hash { return sha256.Sum256([]byte(plaintext)) }

// equal compares in constant time.
func (h Hash) equal(other Hash) bool {
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// mint makes a secret.
func mint(prefix string) (plaintext string, hash Hash) {
	raw := make([]byte, sha256.Size)
	_, _ = rand.Read(raw) // never fails
	plaintext = prefix + base64.RawURLEncoding.EncodeToString(raw)
	return plaintext, hashOf(plaintext)
}

// wellFormed tells whether a text can be a secret of this prefix, so that
// anything else costs no question to the store.
func wellFormed(prefix, text string) bool {
	body, ok := strings.CutPrefix(text, prefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	return err == nil && len(raw) == sha256.Size
}

// successorOf derives the refresh token that follows parent. Only this server can,
// and it always comes to the same one, so that a client which lost the answer, or
// two that ask at once, can be told it again although only hashes are kept.
func successorOf(key []byte, parent string) (plaintext string, hash Hash) {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("drt-successor\x00" + parent))
	plaintext = RefreshPrefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return plaintext, hashOf(plaintext)
}

// newID makes an id whose order is that of time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// isID reports the one spelling of an id that is ours.
func isID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
