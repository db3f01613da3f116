package message

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of signers.
const (
	MaxSigners   = 10                  // active ones of a passport for an app
	MaxKeyedLife = 90 * 24 * time.Hour // of a signer made with an operator key
	MaxLabel     = 64
	ChallengeAge = 5 * time.Minute
)

// Status tells whether a signer may sign.
type Status string

// The states of a signer. Revoked and expired are final.
const (
	Active  Status = "active"
	Revoked Status = "revoked"
	Expired Status = "expired"
)

// Signer is a public key that may sign for a passport. Everything of it is
// public: a verifier needs it.
type Signer struct {
	Key       Key
	DenpaID   string
	AppID     string // empty: the passport's own
	GrantID   string // empty: the passport's own
	KeyID     string // of the operator key that made it; empty: made through a grant
	Scopes    []string
	Label     string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	RevokedBy string    // user, app, grant or key; empty: not revoked
}

// Status is the state at a time. What ends a grant revokes its signers in the
// same transaction, and none outlives its grant.
func (s Signer) Status(now time.Time) Status {
	switch {
	case !s.RevokedAt.IsZero():
		return Revoked
	case !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt):
		return Expired
	default:
		return Active
	}
}

// Usable faults with unauthenticated and the reason when the signer may not
// sign at that time.
func (s Signer) Usable(now time.Time) error {
	switch s.Status(now) {
	case Revoked:
		return unauthenticated(ReasonRevoked, "the signer was revoked")
	case Expired:
		return unauthenticated(ReasonExpired, "the signer has expired")
	case Active:
	}
	return nil
}

// Owner is for whom signers are made and removed: a passport, and the app and
// grant through which it is asked. All of it was verified by the caller.
type Owner struct {
	DenpaID   string
	AppID     string    // empty: an operator key or a session
	GrantID   string    // empty: an operator key or a session
	KeyID     string    // of the operator key; empty: a grant or a session
	Scopes    []string  // of the grant, or what the key stands for
	ExpiresAt time.Time // of the grant; zero: never
}

// SignerDraft is what a caller wants to register.
type SignerDraft struct {
	PublicKey string
	Scopes    []string
	Label     string
	ExpiresAt string // RFC 3339 as it was sent and signed; empty: never
	Challenge string
	Proof     string // 128 lower-case hexadecimal letters
}

// SignerProof is what the new key signs to prove that its holder asks for it:
// the prefix and the issuer, each with a line feed, then the canonical form of
// an object. The object is closed and has a challenge, the message another
// prefix, so neither signature can stand for the other.
func SignerProof(issuer string, owner Owner, d SignerDraft) ([]byte, error) {
	proof := map[string]any{
		"appId": nullable(owner.AppID), "challenge": d.Challenge, "denpaId": owner.DenpaID,
		"expiresAt": nullable(d.ExpiresAt), "publicKey": d.PublicKey, "scopes": d.Scopes,
	}
	raw, err := json.Marshal(proof)
	if err != nil {
		return nil, err
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return nil, err
	}
	return signed(SignerPrefix, issuer, canonical), nil
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var errKeyedLife = badMember("expiresAt", "a signer made with an operator key needs expiresAt, at most 90 days ahead")

// newSigner checks the form of a draft. Faults: invalid_request with the field,
// weak_key, insufficient_scope for more than the owner has.
func newSigner(owner Owner, d SignerDraft, now time.Time) (Signer, error) {
	key, err := ParseKey(d.PublicKey)
	if err != nil {
		return Signer{}, err
	}
	if len(d.Scopes) == 0 {
		return Signer{}, badMember("scopes", "scopes names at least one message type")
	}
	for i, scope := range d.Scopes {
		if !scoped(scope) || slices.Contains(d.Scopes[:i], scope) {
			return Signer{}, badMember("scopes", "scopes names message types, each once")
		}
	}
	for _, scope := range d.Scopes {
		if !slices.Contains(owner.Scopes, scope) {
			return Signer{}, ErrScope.With(memberScope, scope).Say("a signer has no scope that was not granted")
		}
	}
	if !protocol.IsName(d.Label, 0, MaxLabel) {
		return Signer{}, badMember("label", "label has at most %d characters on one line, without format characters", MaxLabel)
	}
	s := Signer{
		Key: key, DenpaID: owner.DenpaID, AppID: owner.AppID, GrantID: owner.GrantID, KeyID: owner.KeyID,
		Scopes: slices.Clone(d.Scopes), Label: d.Label, CreatedAt: now, ExpiresAt: owner.ExpiresAt,
	}
	if d.ExpiresAt == "" && owner.KeyID != "" {
		return Signer{}, errKeyedLife
	}
	if d.ExpiresAt != "" {
		at, ok := protocol.ParseStamp(d.ExpiresAt)
		if !ok || !stamps.MatchString(d.ExpiresAt) || !at.After(now) {
			return Signer{}, badMember("expiresAt", "expiresAt is a time to come, in RFC 3339")
		}
		if owner.KeyID != "" && at.After(now.Add(MaxKeyedLife)) {
			return Signer{}, errKeyedLife
		}
		// A signer never outlives its grant.
		if s.ExpiresAt.IsZero() || at.Before(s.ExpiresAt) {
			s.ExpiresAt = at
		}
	}
	return s, nil
}
