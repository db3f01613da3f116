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

// SecretPrefix begins every secret.
const SecretPrefix = "whsec_"

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return SecretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Sign makes the value of Signalcast-Signature: the time, and for each secret the
// HMAC-SHA-256 of "<time>.<body>" under the secret as it was shown.
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

// Body is the request's body around frames of JSON.
func Body(hookID, deliveryID string, attempt int, frames [][]byte) []byte {
	return fmt.Appendf(nil, `{"webhookId":"%s","deliveryId":"%s","attempt":%d,"events":[%s]}`,
		hookID, deliveryID, attempt, bytes.Join(frames, []byte{','}))
}

// Vault seals secrets for the database: what lies there signs nothing without the
// key, and a sealed secret opens for its own webhook alone.
type Vault struct{ aead cipher.AEAD }

// NewVault makes a vault; the key is derived from any text of enough chance.
func NewVault(text string) *Vault {
	key := sha256.Sum256([]byte("signalcast webhook secrets\n" + text))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &Vault{aead: aead}
}

// Seal encrypts the secret of one webhook.
func (v *Vault) Seal(hookID, secret string) []byte {
	return v.aead.Seal(nil, nil, []byte(secret), []byte(hookID))
}

// ErrSealed says that a secret was sealed under another key.
var ErrSealed = errors.New("webhook secret does not open: WEBHOOK_SECRET_KEY was changed")

// Open decrypts it again.
func (v *Vault) Open(hookID string, sealed []byte) (string, error) {
	plain, err := v.aead.Open(nil, nil, sealed, []byte(hookID))
	if err != nil {
		return "", ErrSealed
	}
	return string(plain), nil
}

// Signature signs a body as of now with the secrets that a webhook has.
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

// oldSecret is one that a renewal has replaced.
type oldSecret struct {
	secret string
	until  time.Time
}

// old gives the replaced secrets that still sign, at most two, newest first.
func (v *Vault) old(h *Hook, now time.Time) []oldSecret {
	if h.OldSecret == nil {
		return nil
	}
	text, err := v.Open(h.ID, h.OldSecret)
	if err != nil {
		return nil // it was renewed for that
	}
	before, rest, more := strings.Cut(text, " ")
	all := []oldSecret{{before, h.OldUntil}}
	if stamp, oldest, ok := strings.Cut(rest, " "); more && ok {
		ms, _ := strconv.ParseInt(stamp, 10, 64) // sealed by us
		all = append(all, oldSecret{oldest, time.UnixMilli(ms)})
	}
	return slices.DeleteFunc(all, func(o oldSecret) bool { return !now.Before(o.until) })
}

// renew puts a secret in front of those of a webhook: of the replaced ones the newest and
// the oldest stay. What is sealed is "<the one before>", or "<the one before>
// <milliseconds> <the oldest>".
func (v *Vault) renew(h *Hook, secret string, now time.Time) {
	older := v.old(h, now)
	before, err := v.Open(h.ID, h.Secret)
	h.Secret, h.OldSecret, h.OldUntil = v.Seal(h.ID, secret), nil, time.Time{}
	if err != nil {
		return // sealed under another key, as those before it
	}
	if n := len(older); n > 0 {
		oldest := older[n-1]
		before += " " + strconv.FormatInt(oldest.until.UnixMilli(), 10) + " " + oldest.secret
	}
	h.OldSecret, h.OldUntil = v.Seal(h.ID, before), now.Add(OldSecretFor)
}
