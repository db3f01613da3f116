package message

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of the number, the lifetime and the label of signers, and the lifetime of a challenge.
const (
	MaxSigners   = 10                  // active signers of one user for one app
	MaxKeyedLife = 90 * 24 * time.Hour // lifetime of a signer that was created with an operator key
	MaxLabel     = 64
	ChallengeAge = 5 * time.Minute
)

// Status is the state of a signer.
type Status string

// States of a signer. Revoked and Expired are final.
const (
	Active  Status = "active"
	Revoked Status = "revoked"
	Expired Status = "expired"
)

// Signer is a public key that may sign messages of a user. All its data is public, because verifiers of messages need it.
type Signer struct {
	Key       Key
	DenpaID   string
	AppID     string // empty: the signer belongs to no app
	GrantID   string // empty: an operator key created the signer
	KeyID     string // operator key that created the signer; empty: created through a grant
	Scopes    []string
	Label     string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	RevokedBy string    // user, app, grant or key; empty: not revoked
}

// Status returns the state of the signer at the time now. It does not depend on the grant, because a revocation of the grant also
// revokes its signers, and a signer never expires later than its grant.
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

// Usable returns nil if the signer may sign at the time now. Otherwise it returns unauthenticated with reason signer_revoked
// or signer_expired.
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

// Owner describes the credential of a user who creates or revokes signers. The caller must have verified the credential.
type Owner struct {
	DenpaID   string
	AppID     string    // empty: an operator key or a session
	GrantID   string    // empty: an operator key or a session
	KeyID     string    // id of the operator key; empty: a grant or a session
	Scopes    []string  // scopes of the grant, or of the operator key by its permissions
	ExpiresAt time.Time // expiry of the grant; zero: never
}

// SignerDraft is the registration of a signer as the client has sent it.
type SignerDraft struct {
	PublicKey string
	Scopes    []string
	Label     string
	ExpiresAt string // RFC 3339, unchanged because it is signed; empty: never
	Challenge string
	Proof     string // 128 lower-case hexadecimal digits
}

// SignerProof returns the bytes that the new key must sign: the prefix, the issuer and the canonical form of the
// registration, separated by line feeds. Messages have another prefix, so a signature of one kind is invalid as the other
// kind.
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
	return signedBytes(SignerPrefix, issuer, canonical), nil
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var errKeyedLife = badMember("expiresAt", "a signer created with an operator key must have expiresAt at most 90 days ahead")

// newSigner validates a registration and returns the signer. Errors: invalid_request with the field, weak_key, insufficient_scope
// for a scope that the owner does not have.
func newSigner(owner Owner, d SignerDraft, now time.Time) (Signer, error) {
	key, err := ParseKey(d.PublicKey)
	if err != nil {
		return Signer{}, err
	}
	if len(d.Scopes) == 0 {
		return Signer{}, badMember("scopes", "scopes must contain at least one scope of a message type, such as signal:create")
	}
	for i, scope := range d.Scopes {
		if !scoped(scope) || slices.Contains(d.Scopes[:i], scope) {
			return Signer{}, badMember("scopes", "scopes must contain scopes of message types, such as signal:create, each once")
		}
	}
	for _, scope := range d.Scopes {
		if !slices.Contains(owner.Scopes, scope) {
			return Signer{}, ErrScope.With(memberScope, scope).WithText(
				"scopes must contain only scopes that were granted to the app or the operator key")
		}
	}
	if !protocol.IsName(d.Label, 0, MaxLabel) {
		return Signer{}, badMember("label", "label must have at most %d characters on one line, without format characters", MaxLabel)
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
			return Signer{}, badMember("expiresAt", "expiresAt must be a future time in RFC 3339")
		}
		if owner.KeyID != "" && at.After(now.Add(MaxKeyedLife)) {
			return Signer{}, errKeyedLife
		}
		// A signer must not expire later than its grant.
		if s.ExpiresAt.IsZero() || at.Before(s.ExpiresAt) {
			s.ExpiresAt = at
		}
	}
	return s, nil
}
