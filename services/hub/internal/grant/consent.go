package grant

import (
	"context"
	"time"
)

// Decide applies the user's decision on a consent page and returns the URL for a redirect with status 303. Each token is
// accepted once. Errors: forbidden if the token was used, has expired, or belongs to another user or session; invalid_request
// if the app has been disabled or no longer has the redirect URI; invalid_scope if an untrusted app no longer has the scopes.
func (s *Service) Decide(ctx context.Context, visitor Visitor, token string, approve bool) (redirect string, err error) {
	if visitor.UserID == "" || !wellFormed(requestPrefix, token) {
		return "", ErrForbidden
	}
	r, err := s.Store.TakeRequest(ctx, hashOf(token), hashOf(visitor.Session), visitor.UserID)
	if err != nil {
		return "", err
	}
	if r == nil || !s.Now().Before(r.ExpiresAt) {
		return "", ErrForbidden.WithText("This page has expired or was already used. Go back to the app and start again.")
	}
	app, err := s.Store.FindApp(ctx, r.AppID)
	if err != nil {
		return "", err
	}
	if app == nil || !app.Active() || !app.matches(r.RedirectURI) {
		return "", invalid("client_id", "The app that sent you here has changed. Go back to the app and start again.")
	}
	switch {
	case !approve:
		return s.errorAt(r.RedirectURI, string(r.State), refusal{"access_denied", "the user denied the request"}), nil
	case !app.Scopes.Contains(r.Scopes):
		a, err := s.refuse(authRequest{app: *app, redirectURI: r.RedirectURI, state: string(r.State)},
			refusal{"invalid_scope", "the scope is no longer registered for this app"})
		return a.Redirect, err
	}
	code := Code{Consented: true}
	if r.Renew {
		if code.GrantID, err = s.sameGrant(ctx, *r); err != nil {
			return "", err
		}
	}
	answer, err := s.issue(ctx, code, *r)
	return answer.Redirect, err
}

// sameGrant returns the id of the user's active grant to the app with the same resource and scopes as the request. It returns ""
// if there is none.
func (s *Service) sameGrant(ctx context.Context, r Request) (string, error) {
	grants, err := s.Store.FindGrants(ctx, r.UserID, r.AppID, s.Now())
	if err != nil {
		return "", err
	}
	for _, g := range grants {
		if g.Resource == r.Resource && g.Scopes.String() == r.Scopes.String() {
			return g.ID, nil
		}
	}
	return "", nil
}

// issue stores an authorization code for a request and returns the redirect that sends the code to the app.
func (s *Service) issue(ctx context.Context, c Code, r Request) (Answer, error) {
	plaintext, hash := mint(codePrefix)
	c.Hash, c.AppID, c.UserID, c.RedirectURI = hash, r.AppID, r.UserID, r.RedirectURI
	c.Scopes, c.Challenge, c.Resource = r.Scopes, r.Challenge, r.Resource
	c.CreatedAt = s.Now()
	c.ExpiresAt = c.CreatedAt.Add(codeLife)
	if err := s.Store.AddCode(ctx, c); err != nil {
		return Answer{}, err
	}
	return Answer{Redirect: withQuery(r.RedirectURI, s.withIssuer(string(r.State), [2]string{"code", plaintext}))}, nil
}

// lifeOf returns lifetimes for an app of this kind: absolute is the lifetime of a grant, and idle is the lifetime of a
// refresh token that is not used.
func lifeOf(kind Kind) (absolute, idle time.Duration) {
	if kind == Confidential {
		return confLife, confIdle
	}
	return publicLife, publicIdle
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
