package webhook

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SecretPrefix is the prefix of every webhook secret.
const SecretPrefix = "whsec_"

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return SecretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Sign returns the value of the header Signalcast-Signature: "t=<time>" in Unix seconds, and ",v1=<signature>" for each secret.
// The signature is the hexadecimal HMAC-SHA-256 of "<time>.<body>". Its key is the text of the secret, including the prefix.
func Sign(at time.Time, body []byte, secrets ...string) string {
	t := strconv.FormatInt(at.Unix(), 10)
	out := "t=" + t
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s))
		mac.Write([]byte(t))
		mac.Write([]byte{'.'})
		mac.Write(body)
		out += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return out
}

// Body returns the JSON body of a request. Each of the frames must be a JSON object.
func Body(hookID, deliveryID string, attempt int, frames [][]byte) []byte {
	return fmt.Appendf(nil, `{"webhookId":"%s","deliveryId":"%s","attempt":%d,"events":[%s]}`,
		hookID, deliveryID, attempt, bytes.Join(frames, []byte{','}))
}

// Vault encrypts webhook secrets for the database. An encrypted secret can be decrypted only with the same key and for the same
// webhook.
type Vault struct{ aead cipher.AEAD }

// NewVault returns a Vault with a key derived from text, the value of WEBHOOK_SECRET_KEY. The text must be hard to guess.
func NewVault(text string) *Vault {
	key := sha256.Sum256([]byte("signalcast webhook secrets\n" + text))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // cannot happen: 32 bytes are a valid key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &Vault{aead: aead}
}

// Seal encrypts a secret of the webhook with this id.
func (v *Vault) Seal(hookID, secret string) []byte {
	return v.aead.Seal(nil, nil, []byte(secret), []byte(hookID))
}

// ErrSealed is returned for a secret that was encrypted with another key, or for another webhook.
var ErrSealed = errors.New("cannot decrypt the webhook secret: WEBHOOK_SECRET_KEY has changed; renew the secret")

// Open decrypts a secret that Seal has encrypted. Error: ErrSealed.
func (v *Vault) Open(hookID string, sealed []byte) (string, error) {
	plain, err := v.aead.Open(nil, nil, sealed, []byte(hookID))
	if err != nil {
		return "", ErrSealed
	}
	return string(plain), nil
}

// Signature returns the value of the header Signalcast-Signature for a body at the time now. It signs with all valid secrets of
// the webhook. Error: ErrSealed.
func (v *Vault) Signature(h *Hook, now time.Time, body []byte) (string, error) {
	secret, err := v.Open(h.ID, h.Secret)
	if err != nil {
		return "", err
	}
	secrets := []string{secret}
	for _, old := range v.old(h, now) {
		secrets = append(secrets, old.secret)
	}
	return Sign(now, body, secrets...), nil
}

// oldSecret is a replaced secret. Requests are also signed with it until the given time.
type oldSecret struct {
	secret string
	until  time.Time
}

// old returns the replaced secrets of a webhook that are still valid, newest first. There are at most two.
func (v *Vault) old(h *Hook, now time.Time) []oldSecret {
	if h.OldSecret == nil {
		return nil
	}
	text, err := v.Open(h.ID, h.OldSecret)
	if err != nil {
		return nil // the secrets were encrypted with another key
	}
	before, rest, more := strings.Cut(text, " ")
	all := []oldSecret{{before, h.OldUntil}}
	if stamp, oldest, ok := strings.Cut(rest, " "); more && ok {
		ms, _ := strconv.ParseInt(stamp, 10, 64) // always a number, because renew has written it
		all = append(all, oldSecret{oldest, time.UnixMilli(ms)})
	}
	return slices.DeleteFunc(all, func(o oldSecret) bool { return !now.Before(o.until) })
}

// renew replaces the secret of a webhook. Of the replaced secrets that are still valid, it stores the newest and the oldest.
// The encrypted text is "<newest>", or "<newest> <end of the oldest in Unix milliseconds> <oldest>".
func (v *Vault) renew(h *Hook, secret string, now time.Time) {
	older := v.old(h, now)
	before, err := v.Open(h.ID, h.Secret)
	h.Secret, h.OldSecret, h.OldUntil = v.Seal(h.ID, secret), nil, time.Time{}
	if err != nil {
		return // all old secrets were encrypted with another key
	}
	if n := len(older); n > 0 {
		oldest := older[n-1]
		before += " " + strconv.FormatInt(oldest.until.UnixMilli(), 10) + " " + oldest.secret
	}
	h.OldSecret, h.OldUntil = v.Seal(h.ID, before), now.Add(OldSecretFor)
}
