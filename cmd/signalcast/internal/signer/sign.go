package signer

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/gowebpki/jcs"

	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

// ErrPayload is the error of a payload that is not a JSON object or that has no canonical form (RFC 8785).
var ErrPayload = errors.New("the payload must be one JSON object with a canonical form (RFC 8785)")

// signer returns a Signer of the SDK that signs with the key.
func (k *Key) signer() (signalcast.Signer, error) {
	private, err := k.private()
	if err != nil {
		return signalcast.Signer{}, err
	}
	return signalcast.NewSigner(private)
}

// Message returns a signed message of type kind in canonical form (RFC 8785). It returns ErrPayload for a payload that is not a
// JSON object, has a duplicate member, or has a number that a float64 cannot represent.
func (k *Key) Message(kind string, payload []byte, now time.Time) ([]byte, error) {
	canonical, err := jcs.Transform(payload)
	if err != nil || len(canonical) == 0 || canonical[0] != '{' {
		return nil, errors.Join(ErrPayload, err)
	}
	passport, err := uuid.Parse(k.DenpaID)
	if err != nil {
		return nil, fmt.Errorf("denpaId of the signing key is not a UUID; create a key with `signalcast signer new`: %w", err)
	}
	by, err := k.signer()
	if err != nil {
		return nil, err
	}
	signed, err := by.Sign(k.Issuer, signalcast.Message{
		Type: kind, DenpaID: passport, AppID: k.AppID, Payload: json.RawMessage(canonical), At: now,
	})
	return signed.Body, err
}

// Proof returns the signature of a registration, made with the key that is to be registered. The signature shows that the
// caller has the private key.
func (k *Key) Proof(challenge string, scopes []string, expiresAt *string) (string, error) {
	by, err := k.signer()
	if err != nil {
		return "", err
	}
	return by.Prove(k.Issuer, map[string]any{
		"appId": k.AppID, "challenge": challenge, "denpaId": k.DenpaID, "expiresAt": expiresAt,
		"publicKey": k.PublicKey, "scopes": scopes,
	})
}
