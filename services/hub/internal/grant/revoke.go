package grant

import (
	"context"
	"time"
)

// Introspection is what a client may know of a token of its own.
type Introspection struct {
	Active    bool // false: nothing else is told
	Scopes    Scopes
	ClientID  string
	DenpaID   string
	GrantID   string
	ExpiresAt time.Time
	IssuedAt  time.Time
	Issuer    string
	Audience  string
	TokenType string // Bearer; empty for a refresh token, which is none
}

// Revoke answers RFC 7009: a refresh token takes its whole grant along, an access
// token goes alone. A token that is unknown, or another client's, is passed over in
// silence. Faults: invalid_request, invalid_client, rate_limited.
func (s *Service) Revoke(ctx context.Context, f Form) error {
	app, err := s.client(ctx, f)
	if err != nil {
		return err
	}
	if f.get("token") == "" {
		return ErrInvalidRequest.Say("token is missing")
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

// Introspect answers RFC 7662 to a confidential client, about its own tokens.
// Faults: invalid_request, invalid_client, rate_limited.
func (s *Service) Introspect(ctx context.Context, f Form) (Introspection, error) {
	app, err := s.client(ctx, f)
	if err != nil {
		return Introspection{}, err
	}
	if app.Kind != Confidential {
		return Introspection{}, ErrInvalidClient.Say("only a client with a secret may ask")
	}
	if f.get("token") == "" {
		return Introspection{}, ErrInvalidRequest.Say("token is missing")
	}
	t, refresh, err := s.find(ctx, f.get("token"))
	if err != nil || t == nil || t.Grant.AppID != app.ID || !t.good(s.Now()) {
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

// find reads a token of either kind; its prefix tells which, so the client's hint
// is not needed.
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
