package app

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// issuerPath is where tokens come from, and what they are for unless they say so.
const issuerPath = "/api/protocol/v1"

// Of the sweep of what sign-in leaves behind.
const (
	grantLease int64 = 7201020 // advisory lock of the one hub that sweeps
	grantPause       = time.Minute
)

// newGrants builds delegated sign-in.
func newGrants(cfg Config, pool *pgxpool.Pool, failures caller.Failures, now func() time.Time) (*grant.Service, error) {
	store := postgres.NewGrants(pool, 0)
	issuer := cfg.base() + issuerPath
	settings := grant.Settings{Issuer: issuer, Resources: []string{issuer + "/mcp"}, RetryWindow: &cfg.RefreshRetry}
	for _, secret := range cfg.Successors {
		settings.SuccessorKeys = append(settings.SuccessorKeys, []byte(secret.Reveal()))
	}
	return grant.New(grant.Deps{
		Apps: store, Codes: store, Tokens: store, Grants: store, Failures: failures, Settings: settings, Now: now,
	})
}

// tokens gives package caller the words of package grant.
type tokens struct{ grants *grant.Service }

// Authenticate implements caller.Tokens.
func (t tokens) Authenticate(ctx context.Context, bearer, resource string) (caller.Delegate, error) {
	p, err := t.grants.Authenticate(ctx, bearer, resource)
	return caller.Delegate{
		UserID: operator.ID(p.UserID), AppID: p.AppID, GrantID: p.GrantID, Scopes: p.Scopes.Words(),
	}, err
}

// sweepGrants deletes what nothing can come of any more while this hub holds the
// lease. An error gives the lease away: the next try may be another hub's.
func (a *App) sweepGrants(ctx context.Context) error {
	store := postgres.New(a.pool)
	lease.Lead(ctx, a.pool, grantLease, func(ctx context.Context) error {
		t := time.NewTicker(grantPause)
		defer t.Stop()
		for {
			n, err := a.grants.Sweep(ctx)
			if err != nil {
				return err
			}
			sessions, err := store.SweepSessions(ctx, a.now().Add(-caller.SessionLife-time.Hour))
			if err != nil {
				return err
			}
			if n+sessions > 0 {
				a.log.InfoContext(ctx, "sign-in swept", "rows", n, "sessions", sessions)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
			}
		}
	})
	return ctx.Err()
}
