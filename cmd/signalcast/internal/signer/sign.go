package signer

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gowebpki/jcs"
)

// What a signature covers begins with one of these, so that none of one kind can stand
// for the other.
const (
	messagePrefix = "denpa-message-v1"
	proofPrefix   = "denpa-signer-v1"
)

// ErrPayload says that a payload is no JSON object with one canonical form.
var ErrPayload = errors.New("the payload is not one JSON object with one canonical form (RFC 8785)")

// sign gives the signature over a value's canonical form.
func (k *Key) sign(prefix string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return "", err
	}
	private, err := k.private()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(ed25519.Sign(private, fmt.Appendf(nil, "%s\n%s\n%s", prefix, k.Issuer, canonical))), nil
}

// Message gives a signed message in its canonical form. The payload is read as it
// stands: members twice and numbers that no double holds are refused.
func (k *Key) Message(kind string, payload []byte, now time.Time) ([]byte, error) {
	canonical, err := jcs.Transform(payload)
	if err != nil || len(canonical) == 0 || canonical[0] != '{' {
		return nil, errors.Join(ErrPayload, err)
	}
	message := map[string]any{
		"version": 1, "type": kind, "denpaId": k.DenpaID, "appId": k.AppID, "timestamp": now.UnixMilli(), "nonce": rand.Text(),
		"payload": json.RawMessage(canonical), "signer": map[string]string{"kind": k.Kind, "publicKey": k.PublicKey},
	}
	if message["signature"], err = k.sign(messagePrefix, message); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(raw)
}

// Proof is the new key's own word that its holder asks for the registration.
func (k *Key) Proof(challenge string, scopes []string, expiresAt *string) (string, error) {
	return k.sign(proofPrefix, map[string]any{
		"appId": k.AppID, "challenge": challenge, "denpaId": k.DenpaID, "expiresAt": expiresAt, "publicKey": k.PublicKey, "scopes": scopes,
	})
}
