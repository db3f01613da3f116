package grant

import (
	"context"
	"time"
)

// Store stores apps, codes, tokens and grants. Fault of all: db_unavailable.
type Store interface {
	// AddApp adds an app. Fault: limit_reached if the owner has limit active apps.
	AddApp(ctx context.Context, a App, limit int) error
	// ListApps returns the owner's apps, newest first.
	ListApps(ctx context.Context, ownerID string) ([]App, error)
	// FindApp returns nil for an unknown id.
	FindApp(ctx context.Context, id string) (*App, error)
	// ChangeApp runs change on the owner's active app, which is locked meanwhile, and stores the result unless change
	// fails. An empty ownerID is any owner. Fault: not_found.
	ChangeApp(ctx context.Context, ownerID, id string, change func(*App) error) (App, error)
	// DisableApp ends the owner's app, its grants and their signers. An app that has ended remains as it is.
	// Fault: not_found.
	DisableApp(ctx context.Context, ownerID, id string, now time.Time) error

	// AddRequest adds the request of a consent page.
	AddRequest(ctx context.Context, r Request) error
	// TakeRequest removes a request of this user and session. It returns nil if there is none.
	TakeRequest(ctx context.Context, hash, session Hash, userID string) (*Request, error)
	// AddCode adds an authorization code.
	AddCode(ctx context.Context, c Code) error
	// Redeem runs rule on a locked code and does what it returns in the same transaction. The transaction is committed
	// also if the turn is a refusal, which Redeem returns. Fault: invalid_grant for an unknown code.
	Redeem(ctx context.Context, hash Hash, now time.Time, rule func(CodeState) Turn) error

	// Refresh is Redeem for a refresh token.
	Refresh(ctx context.Context, hash Hash, now time.Time, rule func(RefreshState) Turn) error
	// UseAccess reads an access token with its grant and app and notes the use of the grant, once in UsedAtMost. It
	// returns nil for an unknown token.
	UseAccess(ctx context.Context, hash Hash, now time.Time) (*TokenState, error)
	// FindAccess reads an access token and changes nothing. It returns nil for an unknown token.
	FindAccess(ctx context.Context, hash Hash) (*TokenState, error)
	// FindRefresh reads a refresh token and changes nothing. It returns nil for an unknown token.
	FindRefresh(ctx context.Context, hash Hash) (*TokenState, error)
	// RevokeAccess ends one token.
	RevokeAccess(ctx context.Context, hash Hash, now time.Time) error

	// GetGrant returns nil for an unknown id.
	GetGrant(ctx context.Context, id string) (*Grant, error)
	// FindGrants returns the active grants of a user to an app, newest first.
	FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]Grant, error)
	// ListGrants returns a user's grants, active ones first, then newest first. With an id it returns that one alone.
	ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]Listed, error)
	// RevokeGrant ends a grant and its signers. A revoked grant remains as it is. An empty userID is any user. It
	// returns false if there is no such grant.
	RevokeGrant(ctx context.Context, userID, grantID string, by Reason, now time.Time) (bool, error)
	// Sweep deletes requests, codes and tokens that can no longer be used, and returns the number of rows.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}
