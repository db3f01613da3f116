package grant

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// Token is a stored access token or refresh token.
type Token struct {
	Hash      Hash
	GrantID   string
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // time of the revocation or replacement; zero: neither
}

// TokenState is a token with its grant and its app.
type TokenState struct {
	Token Token
	Grant Grant
	App   App // only ID, Scopes and DisabledAt are set
}

// valid reports whether the token, its grant and its app are all active.
func (t TokenState) valid(now time.Time) bool { return t.check(now) == nil }

// check returns nil if the token, its grant and its app are all active. Otherwise it returns unauthenticated with the reason
// revoked or expired.
func (t TokenState) check(now time.Time) error {
	switch {
	case !t.Token.EndedAt.IsZero() || !t.Grant.RevokedAt.IsZero() || !t.App.Active():
		return errRevokedToken
	case !now.Before(t.Token.ExpiresAt) || !t.Grant.Active(now):
		return errExpiredToken
	}
	return nil
}

var (
	errRevokedToken = apperr.ErrCredentialRevoked.WithText(
		"the app token or its grant was revoked; ask the user to connect the app again")
	errExpiredToken = apperr.ErrCredentialExpired.WithText(
		"the app token has expired; use the refresh token or start a new authorization")
)

// scopes returns the scopes of the token that the app still has.
func (t TokenState) scopes() Scopes { return t.Token.Scopes.Intersect(t.App.Scopes) }

// Principal is the user, the app and the grant of an access token. A write acts as UserID, regardless of the request body.
type Principal struct {
	UserID    string // denpaId of the user
	AppID     string
	GrantID   string
	Scopes    Scopes
	Resource  string // empty: the authorization request named no resource
	ExpiresAt time.Time
}

// Authenticate returns the principal of an access token for a request to resource. bearer is the text after "Bearer ". A token
// without a resource is valid for the issuer; any other resource requires a token that names it. For caller.AnyResource, every
// valid token is accepted. Authenticate reads the store for each request, so a revocation applies to the next request at every
// hub. Errors: unauthenticated, db_unavailable.
func (s *Service) Authenticate(ctx context.Context, bearer, resource string) (Principal, error) {
	if !wellFormed(AccessPrefix, bearer) {
		return Principal{}, ErrUnauthenticated
	}
	now := s.Now()
	t, err := s.Store.UseAccess(ctx, hashOf(bearer), now)
	if err != nil {
		return Principal{}, err
	}
	if t == nil {
		return Principal{}, ErrUnauthenticated
	}
	if err := t.check(now); err != nil {
		return Principal{}, err
	}
	if !s.isFor(t.Grant.Resource, resource) {
		return Principal{}, ErrUnauthenticated
	}
	return Principal{
		UserID: t.Grant.UserID, AppID: t.Grant.AppID, GrantID: t.Grant.ID, Scopes: t.scopes(),
		Resource: t.Grant.Resource, ExpiresAt: t.Token.ExpiresAt,
	}, nil
}

func (s *Service) isFor(named, wanted string) bool {
	return named == wanted || named == "" && wanted == s.Settings.Issuer || wanted == caller.AnyResource
}

// ScopesOf returns the scopes that a caller with an app token or an operator key has on the protocol routes. For any other caller
// it returns nil.
func ScopesOf(who caller.Caller) Scopes {
	switch who.Kind {
	case caller.Token:
		scopes, _ := NewScopes(who.Delegate.Scopes)
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

// PrincipalOf returns the principal of a caller with an app token. The fields Resource and ExpiresAt are not set.
func PrincipalOf(who caller.Caller) Principal {
	d := who.Delegate
	return Principal{UserID: string(d.UserID), AppID: d.AppID, GrantID: d.GrantID, Scopes: ScopesOf(who)}
}
