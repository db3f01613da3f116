package message

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Attestation is a fact that the hub vouches for with a message of its own.
type Attestation struct {
	Type    Type
	DenpaID string // of the user, or the hub's own
	AppID   string // of the token; empty: none
	Subject string // what it is about, for example a signal's id: attested once
	Payload map[string]any
	Result  Result
}

// Attest signs a message with the hub's newest key and keeps it as accepted. The
// same subject again gives the message that is there. The payload follows the
// attested schema of its type; another one is a mistake of ours, no fault.
// Fault: db_unavailable.
func (s *Service) Attest(ctx context.Context, a Attestation) (Record, error) {
	now := s.now()
	nonce := make([]byte, 18)
	_, _ = rand.Read(nonce) // never fails
	key, sign, err := s.Keys.sign(now)
	if err != nil {
		return Record{}, err
	}
	m := map[string]any{
		"version": 1, "type": a.Type, "denpaId": a.DenpaID, "appId": nullable(a.AppID),
		"timestamp": now.UnixMilli(), "nonce": base64.RawURLEncoding.EncodeToString(nonce), "payload": a.Payload,
		"signer": map[string]any{"kind": kind, "publicKey": key},
	}
	if m["signature"], err = seal(s.Issuer, m, sign); err != nil {
		return Record{}, err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return Record{}, fmt.Errorf("write attested message: %w", err)
	}
	read, err := Read(s.Issuer, raw)
	if err != nil {
		return Record{}, fmt.Errorf("attest %s: %w", a.Type, own(err))
	}
	if _, err := ReadPayload(read.Type, read.Payload, true); err != nil {
		return Record{}, fmt.Errorf("attest %s: %w", a.Type, own(err))
	}
	r := Record{
		ID: read.ID, Type: a.Type, DenpaID: a.DenpaID, AppID: a.AppID, Key: key, Nonce: read.Nonce, Body: read.Body,
		Attested: true, ReceivedAt: now, Attempt: s.NewID(),
	}
	if a.Subject != "" {
		r.Subject = string(a.Type) + ":" + a.Subject
	}
	if a.Result != nil {
		if r.Result, err = json.Marshal(a.Result); err != nil {
			return Record{}, fmt.Errorf("write result: %w", err)
		}
	}
	return s.Store.AttestMessage(ctx, r)
}

// own hides a fault that no caller has caused.
func own(err error) error { return fmt.Errorf("%s", err.Error()) }

// seal gives the signature of a message that has none yet, in hexadecimal.
func seal(issuer string, m map[string]any, sign func([]byte) []byte) (string, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("write message: %w", err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return "", fmt.Errorf("write message: %w", own(err))
	}
	return hex.EncodeToString(sign(signed(MessagePrefix, issuer, canonical))), nil
}
