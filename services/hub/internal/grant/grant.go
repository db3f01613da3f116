package grant

import (
	"context"
	"time"
)

// Reason is why a grant was revoked.
type Reason string

// The reasons.
const (
	ByUser         Reason = "user"  // the user, on our own pages
	ByOwner        Reason = "owner" // the user, with an operator key
	ByApp          Reason = "app"
	ByCodeReplay   Reason = "code_replay"
	ByRefreshReuse Reason = "refresh_reuse"
	ByAppDisabled  Reason = "app_disabled"
)

// Grant is what a user lets an app do.
type Grant struct {
	ID         string
	UserID     string
	AppID      string
	Scopes     Scopes
	Resource   string // empty: none was named
	CreatedAt  time.Time
	ExpiresAt  time.Time // absolute
	LastUsedAt time.Time // zero: never; exact to a minute
	RevokedAt  time.Time // zero: not revoked
	RevokedBy  Reason
}

// Active reports a grant that is neither revoked nor expired.
func (g Grant) Active(now time.Time) bool { return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) }

// token makes a token of the grant, which outlives nothing.
func (g Grant) token(hash Hash, scopes Scopes, now time.Time, life time.Duration) *Token {
	return &Token{Hash: hash, GrantID: g.ID, Scopes: scopes, CreatedAt: now, ExpiresAt: earlier(now.Add(life), g.ExpiresAt)}
}

// Listed is a grant as its user sees it.
type Listed struct {
	Grant
	App     App      // id, name and logo alone
	Signers []string // public keys that may sign under the grant now
}

// ListGrants gives a user's grants, active ones first, then newest first; ended
// ones are among them as long as they are kept.
func (s *Service) ListGrants(ctx context.Context, userID string) ([]Listed, error) {
	return s.Store.ListGrants(ctx, userID, "", s.Now())
}

// OwnGrant gives the one grant that an app token may see.
func (s *Service) OwnGrant(ctx context.Context, p Principal) ([]Listed, error) {
	return s.Store.ListGrants(ctx, p.UserID, p.GrantID, s.Now())
}

// Live reports a grant that is neither revoked nor expired.
func (s *Service) Live(ctx context.Context, grantID string) (bool, error) {
	if !isID(grantID) {
		return false, nil
	}
	g, err := s.Store.GetGrant(ctx, grantID)
	return err == nil && g != nil && g.Active(s.Now()), err
}

// RevokeGrant ends a grant of the user with its tokens and signers, by ByUser or
// ByOwner; doing it again changes nothing. Fault: not_found.
func (s *Service) RevokeGrant(ctx context.Context, userID, grantID string, by Reason) error {
	if !isID(grantID) {
		return ErrNotFound
	}
	found, err := s.Store.RevokeGrant(ctx, userID, grantID, by, s.Now())
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// RevokeOwnGrant ends the grant of an app token, the one that it may end.
// Fault: not_found.
func (s *Service) RevokeOwnGrant(ctx context.Context, p Principal, grantID string) error {
	if grantID != p.GrantID {
		return ErrNotFound
	}
	return s.RevokeGrant(ctx, p.UserID, grantID, ByApp)
}
