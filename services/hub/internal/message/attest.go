package message

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Attestation is a fact that the hub states in a message. The hub signs the message with its own key.
type Attestation struct {
	Type    Type
	DenpaID string // the user or, for a fact about the hub, HubID
	AppID   string // app of the access token; empty: none
	Subject string // id of the attested object, e.g. a call; each is attested once per Type
	Payload map[string]any
	Result  Result
}

// Attest signs a message with the newest valid key of the hub and stores it as accepted. If the subject is already attested, it
// returns the stored message. The payload must follow the schema for attested messages of its type; an invalid payload is a bug
// of the hub and causes an internal error. Error: db_unavailable.
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
	if m["signature"], err = signatureOf(s.Issuer, m, sign); err != nil {
		return Record{}, err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return Record{}, fmt.Errorf("write attested message: %w", err)
	}
	read, err := Read(s.Issuer, raw)
	if err != nil {
		return Record{}, fmt.Errorf("attest %s: %w", a.Type, internalError(err))
	}
	if _, err := ReadPayload(read.Type, read.Payload, true); err != nil {
		return Record{}, fmt.Errorf("attest %s: %w", a.Type, internalError(err))
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

// internalError returns err without its error code, because the client did not cause the error.
func internalError(err error) error { return fmt.Errorf("%s", err.Error()) }

// signatureOf returns the hexadecimal signature of a message. m must not contain the member signature.
func signatureOf(issuer string, m map[string]any, sign func([]byte) []byte) (string, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("write message: %w", err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return "", fmt.Errorf("write message: %w", internalError(err))
	}
	return hex.EncodeToString(sign(signedBytes(MessagePrefix, issuer, canonical))), nil
}
