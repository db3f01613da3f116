package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Grants stores apps, consents, grants and tokens. It implements the four ports of package grant.
type Grants struct {
	pool   *pgxpool.Pool
	read   *db.Queries
	budget time.Duration // of a transaction
}

// NewGrants returns the store of delegated sign-in over an open pool. Every step may take budget; 0 is writeBudget for a
// write and pg.ReadBudget for a read.
func NewGrants(pool *pgxpool.Pool, budget time.Duration) *Grants {
	if budget > 0 {
		return &Grants{pool: pool, read: db.New(pg.Bound(pool, budget)), budget: budget}
	}
	return &Grants{pool: pool, read: db.New(pg.Bound(pool, pg.ReadBudget)), budget: writeBudget}
}

// wideBudget is how long a step may take that changes many rows: the end of an app with all of its grants, a sweep.
const wideBudget = 10 * time.Second

// inTx executes a business step in one transaction within the budget.
func (g *Grants) inTx(ctx context.Context, do func(ctx context.Context, q *db.Queries) error) error {
	return inTx(ctx, g.pool, g.budget, do)
}

// AddApp implements grant.Apps.
func (g *Grants) AddApp(ctx context.Context, a grant.App, limit int) error {
	return g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockAppsOfOwner(ctx, a.OwnerID); err != nil {
			return fmt.Errorf("lock apps: %w", err)
		}
		active, err := q.CountApps(ctx, a.OwnerID)
		if err != nil {
			return fmt.Errorf("count apps: %w", err)
		}
		if active >= int64(limit) {
			return grant.ErrAppLimit
		}
		err = q.InsertApp(ctx, db.InsertAppParams{
			ID: a.ID, OwnerID: a.OwnerID, Kind: a.Kind, Name: a.Name, RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, Homepage: a.Homepage,
			LogoURL: a.LogoURL, AllowedResources: words(a.AllowedResources), SecretHash: hashBytes(a.Secret),
			OldSecretHash: hashBytes(a.OldSecret), OldSecretUntil: pg.Null(a.OldSecretUntil), CreatedAt: a.CreatedAt,
			DisabledAt: pg.Null(a.DisabledAt),
		})
		if err != nil {
			return fmt.Errorf("insert app: %w", err)
		}
		return nil
	})
}

// ListApps implements grant.Apps.
func (g *Grants) ListApps(ctx context.Context, ownerID string) ([]grant.App, error) {
	rows, err := g.read.ListApps(ctx, ownerID)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	return pg.Collect(rows, func(row db.ListAppsRow) grant.App { return app(row.App) }), nil
}

// FindApp implements grant.Apps.
func (g *Grants) FindApp(ctx context.Context, id string) (*grant.App, error) {
	row, ok, err := found(g.read.GetApp(ctx, id))
	return appOrNil(row.App, ok, err)
}

// ChangeApp implements grant.Apps.
func (g *Grants) ChangeApp(ctx context.Context, ownerID, id string, change func(*grant.App) error) (grant.App, error) {
	var changed grant.App
	err := g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		a, err := lockApp(ctx, q, ownerID, id)
		if err != nil {
			return err
		}
		if a == nil || !a.Active() {
			return grant.ErrNotFound
		}
		if err := change(a); err != nil {
			return err
		}
		changed = *a
		err = q.UpdateApp(ctx, db.UpdateAppParams{
			ID: a.ID, Name: a.Name, RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, Homepage: a.Homepage, LogoURL: a.LogoURL,
			AllowedResources: words(a.AllowedResources), SecretHash: hashBytes(a.Secret), OldSecretHash: hashBytes(a.OldSecret),
			OldSecretUntil: pg.Null(a.OldSecretUntil), TrustedAt: pg.Null(a.TrustedAt),
		})
		if err != nil {
			return fmt.Errorf("change app: %w", err)
		}
		return nil
	})
	return changed, err
}

// DisableApp implements grant.Apps.
func (g *Grants) DisableApp(ctx context.Context, ownerID, id string, now time.Time) error {
	return inTx(ctx, g.pool, max(g.budget, wideBudget), func(ctx context.Context, q *db.Queries) error {
		a, err := lockApp(ctx, q, ownerID, id)
		if err != nil {
			return err
		}
		if a == nil {
			return grant.ErrNotFound
		}
		if !a.Active() {
			return nil
		}
		if err := q.DisableApp(ctx, db.DisableAppParams{ID: id, Now: now}); err != nil {
			return fmt.Errorf("disable app: %w", err)
		}
		ended, err := q.RevokeGrantsOfApp(ctx, db.RevokeGrantsOfAppParams{AppID: id, Now: now})
		if err != nil {
			return fmt.Errorf("revoke the grants of an app: %w", err)
		}
		return endSigners(ctx, q, ended, now)
	})
}

// lockApp returns nil if the owner, if one is given, has no such app.
func lockApp(ctx context.Context, q *db.Queries, ownerID, id string) (*grant.App, error) {
	row, ok, err := found(q.LockApp(ctx, db.LockAppParams{ID: id, OwnerID: pg.Null(ownerID)}))
	return appOrNil(row.App, ok, err)
}

func appOrNil(row db.App, ok bool, err error) (*grant.App, error) {
	if err != nil {
		return nil, fmt.Errorf("read app: %w", err)
	}
	if !ok {
		return nil, nil
	}
	a := app(row)
	return &a, nil
}

func app(row db.App) grant.App {
	return grant.App{
		ID: row.ID, OwnerID: row.OwnerID, Kind: row.Kind, Name: row.Name, RedirectURIs: row.RedirectURIs, Scopes: row.Scopes,
		Homepage: row.Homepage, LogoURL: row.LogoURL, AllowedResources: row.AllowedResources, Secret: hashOrNil(row.SecretHash),
		OldSecret: hashOrNil(row.OldSecretHash), OldSecretUntil: utc(row.OldSecretUntil), CreatedAt: row.CreatedAt.UTC(),
		DisabledAt: utc(row.DisabledAt), TrustedAt: utc(row.TrustedAt),
	}
}

// hashOrNil returns a SHA-256, which the table checks for its length; null is nil.
func hashOrNil(b []byte) *grant.Hash {
	if b == nil {
		return nil
	}
	h := grant.Hash(b)
	return &h
}

func hashBytes(h *grant.Hash) []byte {
	if h == nil {
		return nil
	}
	return h[:]
}

// Moderation stores decisions about applications, and reports.
type Moderation struct{ *Store }

// Moderation returns the store of package moderation.
func (s *Store) Moderation() *Moderation { return &Moderation{s} }

// Decide implements moderation.Store.
func (s *Moderation) Decide(ctx context.Context, d moderation.Decision) (moderation.Decision, error) {
	if uuid.Validate(d.ID) != nil {
		return d, moderation.ErrNotFound
	}
	err := s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		original, err := q.ModerateApp(ctx, db.ModerateAppParams{
			AppID: d.ID, Hidden: d.Hidden, Reason: d.Reason, DecidedBy: d.By, DecidedAt: d.At,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return moderation.ErrNotFound
		}
		if err != nil {
			return err
		}
		return q.UpdateAppText(ctx, db.UpdateAppTextParams{ID: d.ID, Original: original})
	})
	if err != nil {
		return d, fmt.Errorf("moderate app: %w", err)
	}
	return d, nil
}

// Find implements moderation.Store.
func (s *Moderation) Find(ctx context.Context, id string) error {
	if uuid.Validate(id) != nil {
		return moderation.ErrNotFound
	}
	_, ok, err := found(s.read.GetApp(ctx, id))
	if err != nil {
		return fmt.Errorf("find app: %w", err)
	}
	if !ok {
		return moderation.ErrNotFound
	}
	return nil
}

// List implements moderation.Store.
func (s *Moderation) List(ctx context.Context, limit int) ([]moderation.Decision, error) {
	rows, err := s.read.ListModeratedApps(ctx, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list moderated apps: %w", err)
	}
	return pg.Collect(rows, func(row db.ListModeratedAppsRow) moderation.Decision {
		return moderation.Decision{
			Kind: "app", ID: row.ID, Hidden: row.Hidden, Reason: row.Reason, By: row.DecidedBy, At: row.DecidedAt,
		}
	}), nil
}

// AddReport implements moderation.Store.
func (s *Moderation) AddReport(ctx context.Context, r moderation.Report, since time.Time, most int) (added bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockReportsOfOperator(ctx, string(r.Reporter)); err != nil {
			return err
		}
		n, err := q.InsertReport(ctx, db.InsertReportParams{
			ID: r.ID, Reporter: r.Reporter, Kind: r.Kind, Thing: r.Thing, Reason: r.Reason, At: r.At, Since: since, MaxReports: int64(most),
		})
		added = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("add report: %w", err)
	}
	return added, nil
}
