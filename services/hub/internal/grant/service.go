package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// How long things live.
const (
	requestLife  = 10 * time.Minute // a consent page
	codeLife     = time.Minute
	accessLife   = 15 * time.Minute
	publicLife   = 14 * 24 * time.Hour  // a grant to a public app
	confLife     = 180 * 24 * time.Hour // a grant to a confidential app
	publicIdle   = 14 * 24 * time.Hour  // a refresh token that nobody uses
	confIdle     = 30 * 24 * time.Hour
	defaultRetry = 10 * time.Second
)

const minKey = 32 // bytes

// UsedAtMost is how often the use of a grant is noted.
const UsedAtMost = time.Minute

// Apps keeps apps.
type Apps interface {
	// AddApp faults with limit_reached when the owner has limit active apps.
	AddApp(ctx context.Context, a App, limit int) error
	// ListApps gives the owner's apps, newest first.
	ListApps(ctx context.Context, ownerID string) ([]App, error)
	// FindApp gives nil for an unknown id.
	FindApp(ctx context.Context, id string) (*App, error)
	// ChangeApp runs change on the owner's active app, which nobody else changes
	// meanwhile, and keeps what it made unless it fails. An empty ownerID is any owner.
	// Fault: not_found.
	ChangeApp(ctx context.Context, ownerID, id string, change func(*App) error) (App, error)
	// DisableApp ends the owner's app, and with it its grants and their signers. An
	// app that has ended stays as it is. Fault: not_found.
	DisableApp(ctx context.Context, ownerID, id string, now time.Time) error
}

// Codes keeps what lies between a consent page and the first token.
type Codes interface {
	AddRequest(ctx context.Context, r Request) error
	// TakeRequest removes a request of this user and session; nil when there is none.
	TakeRequest(ctx context.Context, hash, session Hash, userID string) (*Request, error)
	AddCode(ctx context.Context, c Code) error
	// Redeem runs rule on a locked code and does what it says in the same
	// transaction, which is committed also when the turn is a refusal; it returns
	// the refusal. Fault: invalid_grant for an unknown code.
	Redeem(ctx context.Context, hash Hash, now time.Time, rule func(CodeState) Turn) error
}

// Tokens keeps access and refresh tokens.
type Tokens interface {
	// Refresh is Redeem for a refresh token.
	Refresh(ctx context.Context, hash Hash, now time.Time, rule func(RefreshState) Turn) error
	// UseAccess reads an access token with its grant and app and notes the use of
	// the grant, once in UsedAtMost; nil for an unknown token.
	UseAccess(ctx context.Context, hash Hash, now time.Time) (*TokenState, error)
	// FindAccess and FindRefresh read without a trace; nil for an unknown token.
	FindAccess(ctx context.Context, hash Hash) (*TokenState, error)
	FindRefresh(ctx context.Context, hash Hash) (*TokenState, error)
	// RevokeAccess ends one token.
	RevokeAccess(ctx context.Context, hash Hash, now time.Time) error
}

// Grants keeps grants.
type Grants interface {
	// GetGrant gives nil for an unknown id.
	GetGrant(ctx context.Context, id string) (*Grant, error)
	// FindGrants gives the active grants of a user to an app, newest first.
	FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]Grant, error)
	// ListGrants gives a user's grants, active ones first, newest first; with an
	// id that one alone.
	ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]Listed, error)
	// RevokeGrant ends a grant and its signers; one that is revoked stays as it is.
	// An empty userID is anybody's. False: there is no such grant.
	RevokeGrant(ctx context.Context, userID, grantID string, by Reason, now time.Time) (bool, error)
	// Sweep deletes what nothing can come of any more and gives the number of rows.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}

// Settings of a Service.
type Settings struct {
	Issuer    string   // also the resource that a token without one is for
	Resources []string // the other ones

	// SuccessorKeys derive refresh tokens: the first one makes them, all of them
	// recognise them. Each has 32 bytes at least; every process has the same ones.
	SuccessorKeys [][]byte
	// RetryWindow is how long a used refresh token gives its successor again;
	// nil: ten seconds, 0: never.
	RetryWindow *time.Duration
}

// Deps is what a Service is made of.
type Deps struct {
	Apps     Apps
	Codes    Codes
	Tokens   Tokens
	Grants   Grants
	Failures caller.Failures // nil: counted in this process
	Settings Settings
	Now      func() time.Time
}

// Service is the authorization server.
type Service struct {
	apps     Apps
	codes    Codes
	tokens   Tokens
	grants   Grants
	failures caller.Failures
	issuer   string
	others   []string
	keys     [][]byte
	retry    time.Duration
	now      func() time.Time
}

// New builds a Service. It refuses settings with which tokens could be guessed or
// would be for nobody.
func New(d Deps) (*Service, error) {
	if d.Settings.Issuer == "" {
		return nil, errors.New("the issuer of tokens is not set")
	}
	if len(d.Settings.SuccessorKeys) == 0 {
		return nil, errors.New("there is no key to derive refresh tokens with")
	}
	for _, key := range d.Settings.SuccessorKeys {
		if len(key) < minKey {
			return nil, fmt.Errorf("a key to derive refresh tokens with has %d bytes, not %d", len(key), minKey)
		}
	}
	s := &Service{
		apps: d.Apps, codes: d.Codes, tokens: d.Tokens, grants: d.Grants, failures: d.Failures,
		issuer: d.Settings.Issuer, others: d.Settings.Resources, keys: d.Settings.SuccessorKeys,
		retry: defaultRetry, now: d.Now,
	}
	if d.Settings.RetryWindow != nil {
		s.retry = *d.Settings.RetryWindow
	}
	if s.failures == nil {
		s.failures = caller.NewLocalFailures(d.Now)
	}
	return s, nil
}

// Issuer is who issues the tokens.
func (s *Service) Issuer() string { return s.issuer }

// Resources are the resources that a token can be for.
func (s *Service) Resources() []string { return append([]string{s.issuer}, s.others...) }

func (s *Service) isResource(text string) bool { return slices.Contains(s.Resources(), text) }

// Sweep deletes what nothing can come of any more and gives the number of rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) { return s.grants.Sweep(ctx, s.now()) }
