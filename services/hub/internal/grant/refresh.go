package grant

import (
	"slices"
	"time"
)

// RefreshState is a refresh token under lock, with what it belongs to.
type RefreshState struct {
	Token     Token
	Successor *Token // the one that it was turned into
	Grant     Grant
	App       App
}

// Refreshing is a client's attempt to turn a refresh token into the next one.
type Refreshing struct {
	AppID    string
	Scopes   Scopes // nil: all
	Resource string // empty: not given
	Bad      error  // what is wrong with the request apart from the token
	Access   Hash   // of the access token that is made if it succeeds
	// Successors are the tokens that can follow, one for each key of the server;
	// the first is made if it succeeds.
	Successors []Hash
	Retry      time.Duration
	Now        time.Time
}

// Turn is the rule of a refresh token. Another client's attempt changes nothing.
// A used one gives its successor again for a short while, as long as that one is
// unused: a lost answer and two tabs look like that. After it, or later, somebody
// else has the token, and the whole grant ends.
func (s RefreshState) Turn(r Refreshing) Turn {
	if s.Grant.AppID != r.AppID || !s.Grant.Active(r.Now) || !s.App.Active() {
		return refused(ErrInvalidGrant)
	}
	again := !s.Token.EndedAt.IsZero()
	if again && !s.mayRetry(r) {
		return Turn{Revoke: ByRefreshReuse, GrantID: s.Grant.ID, Err: ErrInvalidGrant}
	}
	scopes, err := s.check(r)
	if err != nil {
		return refused(err)
	}
	if again && !slices.Contains(r.Successors, s.Successor.Hash) {
		return refused(ErrInvalidGrant) // derived with a key that has gone
	}
	t := Turn{GrantID: s.Grant.ID, UserID: s.Grant.UserID, Resource: s.Grant.Resource}
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

// check judges what is asked of a token that is good.
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
		return nil, ErrInvalidScope
	}
	return r.Scopes, nil
}
