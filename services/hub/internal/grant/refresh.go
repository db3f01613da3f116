package grant

import (
	"slices"
	"time"
)

// RefreshState is a refresh token with its successor, grant and app. The store has locked them for the refresh.
type RefreshState struct {
	Token     Token
	Successor *Token // token that replaced Token; nil: Token is not used yet
	Grant     Grant
	App       App
}

// Refreshing is an attempt of a client to use a refresh token.
type Refreshing struct {
	AppID    string
	Scopes   Scopes // nil: all scopes of the token
	Resource string // empty: the request names no resource
	Bad      error  // error of a parameter that was parsed before; nil: none
	Access   Hash   // hash of the access token that a success creates
	// Successors are the hashes of the possible successors of the token, one for each key of the server. A success creates the
	// first one.
	Successors []Hash
	Retry      time.Duration
	Now        time.Time
}

// Redeem decides an attempt to use the refresh token. An attempt of another client changes nothing. Within r.Retry after its use,
// a used token returns its unused successor again, because the client may have lost the response or refreshed in two tabs. Any
// other reuse can mean that the token was stolen, so the grant is revoked.
func (s RefreshState) Redeem(r Refreshing) Outcome {
	if s.Grant.AppID != r.AppID || !s.Grant.Active(r.Now) || !s.App.Active() {
		return refused(ErrInvalidGrant)
	}
	again := !s.Token.EndedAt.IsZero()
	if again && !s.mayRetry(r) {
		return Outcome{Revoke: ByRefreshReuse, GrantID: s.Grant.ID, Err: ErrInvalidGrant}
	}
	scopes, err := s.check(r)
	if err != nil {
		return refused(err)
	}
	if again && !slices.Contains(r.Successors, s.Successor.Hash) {
		return refused(ErrInvalidGrant) // the key that derived the successor was removed
	}
	t := Outcome{GrantID: s.Grant.ID, UserID: s.Grant.UserID, Resource: s.Grant.Resource}
	t.Access = s.Grant.token(r.Access, scopes, r.Now, accessLife)
	if again {
		t.Rotate = &s.Successor.Hash
		return t
	}
	_, idle := lifeOf(s.App.Kind)
	t.Rotate = &r.Successors[0]
	t.Refresh = s.Grant.token(*t.Rotate, s.Token.Scopes, r.Now, idle)
	return t
}

func (s RefreshState) mayRetry(r Refreshing) bool {
	return s.Successor != nil && s.Successor.EndedAt.IsZero() && r.Retry > 0 && r.Now.Sub(s.Token.EndedAt) <= r.Retry
}

// check validates the expiry of the token and the requested scopes and resource. It returns the scopes of the new access token.
func (s RefreshState) check(r Refreshing) (Scopes, error) {
	most := s.Token.Scopes.Intersect(s.App.Scopes)
	switch {
	case !r.Now.Before(s.Token.ExpiresAt):
		return nil, ErrInvalidGrant
	case !most.Has(OfflineAccess):
		return nil, ErrUnauthorizedClient
	case r.Bad != nil:
		return nil, r.Bad
	case r.Resource != "" && r.Resource != s.Grant.Resource:
		return nil, ErrInvalidTarget
	case r.Scopes == nil:
		return most, nil
	case !most.Contains(r.Scopes):
		return nil, ErrInvalidScope.WithText(
			"scope must contain only scopes that the refresh token has and that are registered for the app")
	}
	return r.Scopes, nil
}
