package grant

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// Token is an access or refresh token.
type Token struct {
	Hash      Hash
	GrantID   string
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // revoked, or turned into the next one; zero: neither
}

// TokenState is a token with what it belongs to.
type TokenState struct {
	Token Token
	Grant Grant
	App   App // id, scopes and state alone
}

// good tells whether the token lets somebody in.
func (t TokenState) good(now time.Time) bool {
	return t.Token.EndedAt.IsZero() && now.Before(t.Token.ExpiresAt) && t.Grant.Active(now) && t.App.Active()
}

// scopes are what the token lets its bearer do now.
func (t TokenState) scopes() Scopes { return t.Token.Scopes.Intersect(t.App.Scopes) }

// Principal is for whom a bearer speaks. A write acts as UserID, whatever its
// body says.
type Principal struct {
	UserID    string // the denpaId
	AppID     string
	GrantID   string
	Scopes    Scopes
	Resource  string // empty: none was named
	ExpiresAt time.Time
}

// Authenticate returns the principal of an app token (the text after "Bearer ") at a resource. A token that names no resource is
// for the issuer; another resource accepts only tokens that name it. It reads the store for each request, so that a revocation
// applies to the next request at every hub. Fault: unauthenticated.
func (s *Service) Authenticate(ctx context.Context, bearer, resource string) (Principal, error) {
	if !wellFormed(AccessPrefix, bearer) {
		return Principal{}, ErrUnauthenticated
	}
	now := s.Now()
	t, err := s.Store.UseAccess(ctx, hashOf(bearer), now)
	if err != nil {
		return Principal{}, err
	}
	if t == nil || !t.good(now) || !s.isFor(t.Grant.Resource, resource) {
		return Principal{}, ErrUnauthenticated
	}
	return Principal{
		UserID: t.Grant.UserID, AppID: t.Grant.AppID, GrantID: t.Grant.ID, Scopes: t.scopes(),
		Resource: t.Grant.Resource, ExpiresAt: t.Token.ExpiresAt,
	}, nil
}

func (s *Service) isFor(named, wanted string) bool {
	return named == wanted || named == "" && wanted == s.Settings.Issuer
}

// ScopesOf returns the scopes of a caller on the routes of the protocol.
func ScopesOf(who caller.Caller) Scopes {
	switch who.Kind {
	case caller.Token:
		scopes, _ := NewScopes(who.Delegate.Scopes) // made from scopes
		return scopes
	case caller.Key:
		return ScopesOfPermissions(who.Permissions)
	}
	return nil
}

// Permit returns insufficient_scope unless the caller has the scope.
func Permit(who caller.Caller, scope Scope) error {
	if ScopesOf(who).Has(scope) {
		return nil
	}
	return ErrInsufficientScope.With("required", string(scope))
}

// PrincipalOf returns the principal of a caller with an app token.
func PrincipalOf(who caller.Caller) Principal {
	d := who.Delegate
	return Principal{UserID: string(d.UserID), AppID: d.AppID, GrantID: d.GrantID, Scopes: ScopesOf(who)}
}
