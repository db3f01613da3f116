package grant

import (
	"context"
	"time"
)

// Store stores apps, codes, tokens and grants. Error of all methods: db_unavailable.
type Store interface {
	// AddApp adds an app. Error: limit_reached if the owner has limit active apps.
	AddApp(ctx context.Context, a App, limit int) error
	// ListApps returns the owner's apps, newest first.
	ListApps(ctx context.Context, ownerID string) ([]App, error)
	// FindApp returns nil for an unknown id.
	FindApp(ctx context.Context, id string) (*App, error)
	// ChangeApp runs change on the owner's active app, which is locked meanwhile, and stores the result unless change
	// fails. An empty ownerID matches any owner. Error: not_found.
	ChangeApp(ctx context.Context, ownerID, id string, change func(*App) error) (App, error)
	// DisableApp disables the owner's app and revokes its grants and their signers. It does not change a disabled app.
	// Error: not_found.
	DisableApp(ctx context.Context, ownerID, id string, now time.Time) error

	// AddRequest adds the request of a consent page.
	AddRequest(ctx context.Context, r Request) error
	// TakeRequest removes a request of this user and session. It returns nil if there is none.
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
	// FindAccess reads an access token and changes nothing. It returns nil for an unknown token.
	FindAccess(ctx context.Context, hash Hash) (*TokenState, error)
	// FindRefresh reads a refresh token and changes nothing. It returns nil for an unknown token.
	FindRefresh(ctx context.Context, hash Hash) (*TokenState, error)
	// RevokeAccess revokes one access token.
	RevokeAccess(ctx context.Context, hash Hash, now time.Time) error

	// GetGrant returns nil for an unknown id.
	GetGrant(ctx context.Context, id string) (*Grant, error)
	// FindGrants returns the active grants of a user to an app, newest first.
	FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]Grant, error)
	// ListGrants returns a user's grants, active ones first, then newest first. With a grantID it returns only that
	// grant.
	ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]Listed, error)
	// RevokeGrant revokes a grant and its signers. It does not change a revoked grant. An empty userID matches any
	// user. It returns false if there is no such grant.
	RevokeGrant(ctx context.Context, userID, grantID string, by Reason, now time.Time) (bool, error)
	// Sweep deletes requests, codes and tokens that can no longer be used, and returns the number of rows.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}
