package grant

import (
	"context"
	"time"
)

// Store stores apps, consent requests, codes, tokens and grants. All methods can return db_unavailable.
type Store interface {
	// AddApp adds an app. It returns limit_reached if the owner already has limit active apps.
	AddApp(ctx context.Context, a App, limit int) error
	// ListApps returns the apps of an owner, newest first.
	ListApps(ctx context.Context, ownerID string) ([]App, error)
	// FindApp returns the app with this id; nil if it does not exist.
	FindApp(ctx context.Context, id string) (*App, error)
	// ChangeApp locks an active app of the owner, runs change on it, and stores the result unless change fails. An empty ownerID
	// matches any owner. Errors: not_found, and that of change.
	ChangeApp(ctx context.Context, ownerID, id string, change func(*App) error) (App, error)
	// DisableApp disables an app of the owner and revokes its grants and their signers. It does nothing if the app is already
	// disabled. Error: not_found.
	DisableApp(ctx context.Context, ownerID, id string, now time.Time) error

	// AddRequest adds a consent request, which waits for the decision of the user.
	AddRequest(ctx context.Context, r Request) error
	// TakeRequest deletes and returns a consent request of this user and session. It returns nil if there is none.
	TakeRequest(ctx context.Context, hash, session Hash, userID string) (*Request, error)
	// AddCode adds an authorization code.
	AddCode(ctx context.Context, c Code) error
	// Redeem runs rule on a locked code and applies the returned Outcome in the same transaction. It commits also if the
	// Outcome has an error, which Redeem then returns. Error: invalid_grant for an unknown code.
	Redeem(ctx context.Context, hash Hash, now time.Time, rule func(CodeState) Outcome) error

	// Refresh does the same as Redeem for a refresh token.
	Refresh(ctx context.Context, hash Hash, now time.Time, rule func(RefreshState) Outcome) error
	// UseAccess reads an access token with its grant and app. It records the use of the grant at most once per
	// UsedAtMost. It returns nil for an unknown token.
	UseAccess(ctx context.Context, hash Hash, now time.Time) (*TokenState, error)
	// FindAccess returns an access token with its grant and app, without recording a use; nil if the token is unknown.
	FindAccess(ctx context.Context, hash Hash) (*TokenState, error)
	// FindRefresh returns a refresh token with its grant and app, without using it; nil if the token is unknown.
	FindRefresh(ctx context.Context, hash Hash) (*TokenState, error)
	// RevokeAccess revokes one access token. The grant and its other tokens stay active.
	RevokeAccess(ctx context.Context, hash Hash, now time.Time) error

	// GetGrant returns the grant with this id; nil if it does not exist.
	GetGrant(ctx context.Context, id string) (*Grant, error)
	// FindGrants returns the active grants that a user gave to an app, newest first.
	FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]Grant, error)
	// ListGrants returns the grants of a user, active ones first, then newest first. If grantID is set, it returns only that
	// grant.
	ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]Listed, error)
	// RevokeGrant revokes a grant and its signers. It does nothing if the grant is already revoked. An empty userID matches any
	// user. It returns false if the grant does not exist.
	RevokeGrant(ctx context.Context, userID, grantID string, by Reason, now time.Time) (bool, error)
	// Sweep deletes consent requests, codes and tokens that can no longer be used. It returns the number of deleted rows.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}
