package grant

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Prefixes of secrets: access token, refresh token, authorization code, client secret, consent request. The prefix identifies the
// kind of a secret.
const (
	AccessPrefix  = protocol.AppPrefix
	RefreshPrefix = protocol.RefreshPrefix
	codePrefix    = "dac_"
	secretPrefix  = "das_"
	requestPrefix = "dar_"
)

// Hash is the SHA-256 hash of a secret. Only hashes are stored. A secret has 256 random bits, so its hash needs no salt.
type Hash [sha256.Size]byte

func hashOf(plaintext string) Hash { return sha256.Sum256([]byte(plaintext)) }

// equal reports whether two hashes are equal. The comparison takes constant time.
func (h Hash) equal(other Hash) bool {
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// mint returns a new random secret that starts with prefix, and its hash.
func mint(prefix string) (plaintext string, hash Hash) {
	raw := make([]byte, sha256.Size)
	_, _ = rand.Read(raw) // never fails
	plaintext = prefix + base64.RawURLEncoding.EncodeToString(raw)
	return plaintext, hashOf(plaintext)
}

// wellFormed reports whether text has the format of a secret with this prefix. A text with another format is refused without a
// database query.
func wellFormed(prefix, text string) bool {
	body, ok := strings.CutPrefix(text, prefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	return err == nil && len(raw) == sha256.Size
}

// successorOf derives the refresh token that replaces parent. The same key and parent always result in the same token. The server
// stores only hashes of tokens, but it can derive the successor again after a lost response or for concurrent requests.
func successorOf(key []byte, parent string) (plaintext string, hash Hash) {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("drt-successor\x00" + parent))
	plaintext = RefreshPrefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return plaintext, hashOf(plaintext)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// isID reports whether text is a UUID in canonical form.
func isID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
