package grant

import (
	"context"
	"time"
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

// Require faults with insufficient_scope when the scope was not given.
func (p Principal) Require(scope Scope) error {
	if p.Scopes.Has(scope) {
		return nil
	}
	return ErrInsufficientScope.With("required", string(scope))
}

// Authenticate tells for whom a bearer (what follows "Bearer ") speaks at a resource.
// A token that names no resource, or the issuer, is for the issuer's routes; any
// other resource takes only the tokens that name it. It asks the store each time, so
// that a revocation holds for the next request wherever that arrives.
// Fault: unauthenticated.
func (s *Service) Authenticate(ctx context.Context, bearer, resource string) (Principal, error) {
	if !wellFormed(AccessPrefix, bearer) {
		return Principal{}, ErrUnauthenticated
	}
	now := s.now()
	t, err := s.tokens.UseAccess(ctx, hashOf(bearer), now)
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
	return named == wanted || named == "" && wanted == s.issuer
}
