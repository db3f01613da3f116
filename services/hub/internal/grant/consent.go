package grant

import (
	"context"
	"time"
)

// Decide takes the user's decision on a consent page, once, and says where the
// browser goes, with 303. Faults: forbidden when the token is not one of this
// user and this session, was used, or has run out; invalid_request when the app
// has changed meanwhile so that it is not to be trusted with an answer.
func (s *Service) Decide(ctx context.Context, who Visitor, token string, approve bool) (redirect string, err error) {
	if who.UserID == "" || !wellFormed(requestPrefix, token) {
		return "", ErrForbidden
	}
	r, err := s.Store.TakeRequest(ctx, hashOf(token), hashOf(who.Session), who.UserID)
	if err != nil {
		return "", err
	}
	if r == nil || !s.Now().Before(r.ExpiresAt) {
		return "", ErrForbidden.Say("The page is too old or was used. Go back to the app and start again.")
	}
	app, err := s.Store.FindApp(ctx, r.AppID)
	if err != nil {
		return "", err
	}
	if app == nil || !app.Active() || !app.matches(r.RedirectURI) {
		return "", invalid("client_id", "The app that sent you here has changed. Go back to it and start again.")
	}
	switch {
	case !approve:
		return s.errorAt(r.RedirectURI, string(r.State), refusal{"access_denied", "the user said no"}), nil
	case !app.Scopes.Contains(r.Scopes):
		a, err := s.refuse(asked{app: *app, redirectURI: r.RedirectURI, state: string(r.State)},
			refusal{"invalid_scope", "the scope is not registered for this app any more"})
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

// sameGrant finds the grant that the user has just given again.
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

// issue makes a code for a request and the redirect that carries it.
func (s *Service) issue(ctx context.Context, c Code, r Request) (Answer, error) {
	plaintext, hash := mint(codePrefix)
	c.Hash, c.AppID, c.UserID, c.RedirectURI = hash, r.AppID, r.UserID, r.RedirectURI
	c.Scopes, c.Challenge, c.Resource = r.Scopes, r.Challenge, r.Resource
	c.CreatedAt = s.Now()
	c.ExpiresAt = c.CreatedAt.Add(codeLife)
	if err := s.Store.AddCode(ctx, c); err != nil {
		return Answer{}, err
	}
	return Answer{Redirect: withQuery(r.RedirectURI, s.signed(string(r.State), [2]string{"code", plaintext}))}, nil
}

// lifeOf gives the absolute life of a grant to such an app, and how long a refresh
// token may lie unused.
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
