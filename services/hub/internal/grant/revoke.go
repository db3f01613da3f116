package grant

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Introspection describes a token to the client to which it was issued.
type Introspection struct {
	Active    bool // false: all other fields are zero
	Scopes    Scopes
	ClientID  string
	DenpaID   string
	GrantID   string
	ExpiresAt time.Time
	IssuedAt  time.Time
	Issuer    string
	Audience  string
	TokenType string // Bearer; empty for a refresh token
}

// Revoke implements token revocation (RFC 7009). For a refresh token it revokes the whole grant, for an access token only the
// token. It ignores an unknown token and a token of another client. Errors: invalid_request, invalid_client, rate_limited.
func (s *Service) Revoke(ctx context.Context, f Form) error {
	app, err := s.client(ctx, f)
	if err != nil {
		return err
	}
	if f.get("token") == "" {
		return ErrInvalidRequest.WithText("token is missing")
	}
	t, refresh, err := s.find(ctx, f.get("token"))
	switch {
	case err != nil:
		return err
	case t == nil || t.Grant.AppID != app.ID:
		return nil
	case refresh:
		_, err = s.Store.RevokeGrant(ctx, "", t.Grant.ID, ByApp, s.Now())
		return err
	}
	return s.Store.RevokeAccess(ctx, t.Token.Hash, s.Now())
}

// Introspect implements token introspection (RFC 7662) for confidential clients. Active is true only for a valid token that was
// issued to the client itself. Errors: invalid_request, invalid_client, rate_limited.
func (s *Service) Introspect(ctx context.Context, f Form) (Introspection, error) {
	app, err := s.client(ctx, f)
	if err != nil {
		return Introspection{}, err
	}
	if app.Kind != Confidential {
		return Introspection{}, ErrInvalidClient.WithText("introspection requires a confidential client").
			With(apperr.MemberReason, apperr.ReasonWrongKind)
	}
	if f.get("token") == "" {
		return Introspection{}, ErrInvalidRequest.WithText("token is missing")
	}
	t, refresh, err := s.find(ctx, f.get("token"))
	if err != nil || t == nil || t.Grant.AppID != app.ID || !t.valid(s.Now()) {
		return Introspection{}, err
	}
	i := Introspection{
		Active: true, Scopes: t.scopes(), ClientID: app.ID, DenpaID: t.Grant.UserID, GrantID: t.Grant.ID,
		ExpiresAt: t.Token.ExpiresAt, IssuedAt: t.Token.CreatedAt, Issuer: s.Settings.Issuer, Audience: t.Grant.Resource,
	}
	if i.Audience == "" {
		i.Audience = s.Settings.Issuer
	}
	if !refresh {
		i.TokenType = "Bearer"
	}
	return i, nil
}

// find returns an access token or a refresh token, or nil if it is unknown. refresh is true for a refresh token. The prefix
// of the token determines its kind, so find needs no token_type_hint.
func (s *Service) find(ctx context.Context, plaintext string) (t *TokenState, refresh bool, err error) {
	switch {
	case wellFormed(AccessPrefix, plaintext):
		t, err = s.Store.FindAccess(ctx, hashOf(plaintext))
	case wellFormed(RefreshPrefix, plaintext):
		t, err = s.Store.FindRefresh(ctx, hashOf(plaintext))
		refresh = true
	}
	return t, refresh, err
}
