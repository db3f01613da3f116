package grant

import (
	"context"
	"time"
)

// Issued is the successful response of the token endpoint.
type Issued struct {
	AccessToken  string
	TokenType    string // Bearer
	ExpiresIn    time.Duration
	RefreshToken string // empty: none
	Scopes       Scopes
	DenpaID      string
	GrantID      string
	Resource     string // empty: the authorization request named no resource
}

// Token implements the token endpoint (RFC 6749 3.2) for authorization codes and refresh tokens. Errors: invalid_request,
// invalid_client, invalid_grant, invalid_scope, invalid_target, unsupported_grant_type, unauthorized_client, rate_limited.
func (s *Service) Token(ctx context.Context, f Form) (Issued, error) {
	app, err := s.client(ctx, f)
	if err != nil {
		return Issued{}, err
	}
	switch f.get("grant_type") {
	case "authorization_code":
		return s.redeem(ctx, app, f)
	case "refresh_token":
		return s.refresh(ctx, app, f)
	case "":
		return Issued{}, ErrInvalidRequest.WithText("grant_type is missing")
	}
	return Issued{}, ErrUnsupportedGrantType
}

func (s *Service) redeem(ctx context.Context, app App, f Form) (Issued, error) {
	code := f.get("code")
	if code == "" {
		return Issued{}, ErrInvalidRequest.WithText("code is missing")
	}
	if !wellFormed(codePrefix, code) {
		return Issued{}, ErrInvalidGrant
	}
	resource, bad := f.resource()
	access, accessHash := mint(AccessPrefix)
	refresh, refreshHash := mint(RefreshPrefix)
	r := Redemption{
		AppID: app.ID, RedirectURI: f.get("redirect_uri"), Verifier: f.get("code_verifier"), Resource: resource, Bad: bad,
		GrantID: newID(), Access: accessHash, Refresh: refreshHash, Now: s.Now(),
	}
	var outcome Outcome
	err := s.Store.Redeem(ctx, hashOf(code), r.Now, func(c CodeState) Outcome {
		outcome = c.Redeem(r)
		return outcome
	})
	if err != nil {
		return Issued{}, err
	}
	if outcome.Refresh == nil {
		refresh = ""
	}
	return s.issued(ctx, outcome, access, refresh), nil
}

func (s *Service) refresh(ctx context.Context, app App, f Form) (Issued, error) {
	token := f.get("refresh_token")
	if token == "" {
		return Issued{}, ErrInvalidRequest.WithText("refresh_token is missing")
	}
	if !wellFormed(RefreshPrefix, token) {
		return Issued{}, ErrInvalidGrant
	}
	scopes, bad := ParseScopes(f.get("scope"))
	resource, badResource := f.resource()
	if bad == nil {
		bad = badResource
	}
	access, accessHash := mint(AccessPrefix)
	r := Refreshing{AppID: app.ID, Scopes: scopes, Resource: resource, Bad: bad, Access: accessHash, Retry: s.retry, Now: s.Now()}
	successors := make(map[Hash]string, len(s.Settings.SuccessorKeys))
	for _, key := range s.Settings.SuccessorKeys {
		next, hash := successorOf(key, token)
		successors[hash] = next
		r.Successors = append(r.Successors, hash)
	}
	var outcome Outcome
	err := s.Store.Refresh(ctx, hashOf(token), r.Now, func(st RefreshState) Outcome {
		outcome = st.Redeem(r)
		return outcome
	})
	if err != nil {
		return Issued{}, err
	}
	return s.issued(ctx, outcome, access, successors[*outcome.Rotate]), nil
}

// issued announces the new access token and returns the response with it.
func (s *Service) issued(ctx context.Context, t Outcome, access, refresh string) Issued {
	if s.Announce != nil {
		s.Announce(ctx, *t.Access)
	}
	return Issued{
		AccessToken: access, TokenType: "Bearer", ExpiresIn: t.Access.ExpiresAt.Sub(t.Access.CreatedAt), RefreshToken: refresh,
		Scopes: t.Access.Scopes, DenpaID: t.UserID, GrantID: t.GrantID, Resource: t.Resource,
	}
}
