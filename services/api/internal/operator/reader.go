package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// AppToken is what the api stores of an access token of an app. The hub issues the tokens and sends them to the api, which uses
// them only to select the rate limit of public reads.
type AppToken struct {
	Hash      []byte // SHA-256 of the token; empty: all tokens of the grant
	GrantID   string
	ExpiresAt time.Time
	RevokedAt time.Time // zero: not revoked
}

// Errors of app tokens.
var (
	errUnknownToken = apperr.ErrCredentialUnknown.WithText("the app token is unknown; request a new one")
	errRevokedToken = apperr.ErrCredentialRevoked.WithText("the app token or its grant was revoked; ask the user to connect the app again")
	errExpiredToken = apperr.ErrCredentialExpired.WithText("the app token has expired; use the refresh token or start a new authorization")
)

// Reader is the credential of a public read. Exactly one field is set.
type Reader struct {
	KeyHash   []byte // SHA-256 of an operator key
	TokenHash []byte // SHA-256 of the access token of an app
	Login     string // access token of an identity provider
}

// Readers verifies the credentials of public reads.
type Readers struct {
	Operators *Service
	// Login verifies an access token of an identity provider. Errors: unauthenticated, identity_provider_unavailable.
	Login func(ctx context.Context, raw string) (Identity, error)
}

// Verify returns the id by which the rate limit of a credential is counted. The id has no part of the credential that could be
// used to authenticate. Errors: unauthenticated, db_unavailable, identity_provider_unavailable.
func (s Readers) Verify(ctx context.Context, r Reader) (id string, err error) {
	switch {
	case len(r.KeyHash) == sha256.Size:
		_, _, err = s.Operators.Verify(ctx, r.KeyHash)
		return hex.EncodeToString(r.KeyHash), err
	case len(r.TokenHash) == sha256.Size:
		return s.Operators.grantOf(ctx, r.TokenHash)
	case r.Login != "":
		who, err := s.Login(ctx, r.Login)
		return who.LimitID(), err
	}
	return "", apperr.ErrCredentialUnknown
}

// LimitID returns the id by which the requests of an identity are counted, the same as at the hub. It is a hash, so that Redis
// stores no raw id.
func (id Identity) LimitID() string {
	sum := sha256.Sum256([]byte(id.Issuer + "|" + id.Subject))
	return hex.EncodeToString(sum[:16])
}

// grantOf returns the grant of an access token. Errors: unauthenticated, db_unavailable.
func (s *Service) grantOf(ctx context.Context, hash []byte) (string, error) {
	t, err := s.store.AppToken(ctx, hash)
	switch {
	case err != nil:
		return "", err
	case t == nil:
		return "", errUnknownToken
	case !t.RevokedAt.IsZero():
		return "", errRevokedToken
	case !s.now().Before(t.ExpiresAt):
		return "", errExpiredToken
	}
	return t.GrantID, nil
}

// StoreAppTokens stores access tokens that the hub has issued, and revocations. Repeating it changes nothing. Error:
// db_unavailable.
func (s *Service) StoreAppTokens(ctx context.Context, tokens []AppToken) error {
	return s.store.StoreAppTokens(ctx, tokens, s.now().UTC())
}
