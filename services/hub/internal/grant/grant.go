package grant

import (
	"context"
	"time"
)

// Reason is the reason for which a grant was revoked.
type Reason string

// Reasons for the revocation of a grant.
const (
	ByUser         Reason = "user"  // by the user, on a page of the hub
	ByOwner        Reason = "owner" // by the user, with an operator key
	ByApp          Reason = "app"
	ByCodeReplay   Reason = "code_replay"
	ByRefreshReuse Reason = "refresh_reuse"
	ByAppDisabled  Reason = "app_disabled"
)

// Grant is the permission that a user gave to an app. Scopes limit what the app may do.
type Grant struct {
	ID         string
	UserID     string
	AppID      string
	Scopes     Scopes
	Resource   string // empty: the request named no resource
	CreatedAt  time.Time
	ExpiresAt  time.Time // end of the grant, regardless of its use
	LastUsedAt time.Time // precise to one minute; zero: never used
	RevokedAt  time.Time // zero: not revoked
	RevokedBy  Reason
}

// Active reports whether the grant is neither revoked nor expired at the time now.
func (g Grant) Active(now time.Time) bool { return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) }

// token returns a new token of the grant. It expires after life, but never later than the grant.
func (g Grant) token(hash Hash, scopes Scopes, now time.Time, life time.Duration) *Token {
	return &Token{Hash: hash, GrantID: g.ID, Scopes: scopes, CreatedAt: now, ExpiresAt: earlier(now.Add(life), g.ExpiresAt)}
}

// Listed is a grant with its app and signers, as the list of a user's grants shows it.
type Listed struct {
	Grant
	App     App      // only ID, Name and LogoURL are set
	Signers []string // public keys of the active signers that the grant created
}

// ListGrants returns the grants of a user. Active grants come first, then revoked and expired ones that are still stored. Each
// group is sorted from the newest to the oldest grant.
func (s *Service) ListGrants(ctx context.Context, userID string) ([]Listed, error) {
	return s.Store.ListGrants(ctx, userID, "", s.Now())
}

// OwnGrant returns the grant of an app token as a list with one element. A token cannot list other grants of its user.
func (s *Service) OwnGrant(ctx context.Context, p Principal) ([]Listed, error) {
	return s.Store.ListGrants(ctx, p.UserID, p.GrantID, s.Now())
}

// Live reports whether the grant exists and is neither revoked nor expired. An invalid id counts as unknown.
func (s *Service) Live(ctx context.Context, grantID string) (bool, error) {
	if !isID(grantID) {
		return false, nil
	}
	g, err := s.Store.GetGrant(ctx, grantID)
	return err == nil && g != nil && g.Active(s.Now()), err
}

// RevokeGrant revokes a grant of the user, with its tokens and signers. by must be ByUser, ByOwner or ByApp. A repeated call
// changes nothing. Error: not_found.
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

// RevokeOwnGrant revokes the grant of an app token. A token cannot revoke other grants. Error: not_found.
func (s *Service) RevokeOwnGrant(ctx context.Context, p Principal, grantID string) error {
	if grantID != p.GrantID {
		return ErrNotFound
	}
	return s.RevokeGrant(ctx, p.UserID, grantID, ByApp)
}
