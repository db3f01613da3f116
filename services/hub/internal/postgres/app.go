package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Grants stores apps, consent requests, grants and tokens. It implements grant.Store.
type Grants struct{ conn }

// NewGrants returns a store that uses an open pool. read is the time limit of a read; see New.
func NewGrants(pool *pgxpool.Pool, read time.Duration) *Grants { return &Grants{New(pool, read).conn} }

// wideBudget is the minimum time limit for changes of many rows: disabling an app with all its grants, or a sweep.
const wideBudget = 10 * time.Second

// AddApp implements grant.Store.
func (g *Grants) AddApp(ctx context.Context, a grant.App, limit int) error {
	return g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockAppsOfOwner(ctx, a.OwnerID); err != nil {
			return err
		}
		active, err := q.CountApps(ctx, a.OwnerID)
		if err != nil {
			return err
		}
		if active >= int64(limit) {
			return grant.ErrAppLimit
		}
		return q.InsertApp(ctx, db.InsertAppParams{
			ID: a.ID, OwnerID: a.OwnerID, Kind: a.Kind, Name: a.Name, RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, Homepage: a.Homepage,
			LogoURL: a.LogoURL, AllowedResources: words(a.AllowedResources), SecretHash: hashBytes(a.Secret),
			OldSecretHash: hashBytes(a.OldSecret), OldSecretUntil: pg.Null(a.OldSecretUntil), CreatedAt: a.CreatedAt,
			DisabledAt: pg.Null(a.DisabledAt),
		})
	})
}

// ListApps implements grant.Store.
func (g *Grants) ListApps(ctx context.Context, ownerID string) ([]grant.App, error) {
	rows, err := g.read.ListApps(ctx, ownerID)
	return pg.Collect(rows, func(row db.ListAppsRow) grant.App { return app(row.App) }), err
}

// FindApp implements grant.Store.
func (g *Grants) FindApp(ctx context.Context, id string) (*grant.App, error) {
	row, ok, err := found(g.read.GetApp(ctx, id))
	return appOrNil(row.App, ok, err)
}

// ChangeApp implements grant.Store.
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
		return q.UpdateApp(ctx, db.UpdateAppParams{
			ID: a.ID, Name: a.Name, RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, Homepage: a.Homepage, LogoURL: a.LogoURL,
			AllowedResources: words(a.AllowedResources), SecretHash: hashBytes(a.Secret), OldSecretHash: hashBytes(a.OldSecret),
			OldSecretUntil: pg.Null(a.OldSecretUntil), TrustedAt: pg.Null(a.TrustedAt),
		})
	})
	return changed, err
}

// DisableApp implements grant.Store.
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
			return err
		}
		ended, err := q.RevokeGrantsOfApp(ctx, db.RevokeGrantsOfAppParams{AppID: id, Now: now})
		if err != nil {
			return err
		}
		return endSigners(ctx, q, ended, now)
	})
}

// lockApp locks and returns an app of the owner, or of any owner if ownerID is empty. It returns nil if there is no such app.
func lockApp(ctx context.Context, q *db.Queries, ownerID, id string) (*grant.App, error) {
	row, ok, err := found(q.LockApp(ctx, db.LockAppParams{ID: id, OwnerID: pg.Null(ownerID)}))
	return appOrNil(row.App, ok, err)
}

func appOrNil(row db.App, ok bool, err error) (*grant.App, error) {
	if !ok {
		return nil, err
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

// hashOrNil converts a stored SHA-256 hash, which has 32 bytes. It returns nil for null.
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

// Moderation stores decisions about apps, and reports. It implements moderation.Store.
type Moderation struct{ conn }

// Moderation returns the store of package moderation on the same pool.
func (s *Store) Moderation() *Moderation { return &Moderation{s.conn} }

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
	return d, err
}

// Find implements moderation.Store.
func (s *Moderation) Find(ctx context.Context, id string) error {
	if uuid.Validate(id) != nil {
		return moderation.ErrNotFound
	}
	_, ok, err := found(s.read.GetApp(ctx, id))
	if err == nil && !ok {
		err = moderation.ErrNotFound
	}
	return err
}

// List implements moderation.Store.
func (s *Moderation) List(ctx context.Context, limit int) ([]moderation.Decision, error) {
	rows, err := s.read.ListModeratedApps(ctx, int32(limit))
	return pg.Collect(rows, func(row db.ListModeratedAppsRow) moderation.Decision {
		return moderation.Decision{
			Kind: "app", ID: row.ID, Hidden: row.Hidden, Reason: row.Reason, By: row.DecidedBy, At: row.DecidedAt,
		}
	}), err
}

// AddReport implements moderation.Store.
func (s *Moderation) AddReport(ctx context.Context, r moderation.Report, since time.Time, limit int) (added bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockReportsOfOperator(ctx, string(r.Reporter)); err != nil {
			return err
		}
		n, err := q.InsertReport(ctx, db.InsertReportParams{
			ID: r.ID, Reporter: r.Reporter, Kind: r.Kind, Thing: r.Thing, Reason: r.Reason, At: r.At, Since: since, MaxReports: int64(limit),
		})
		added = n == 1
		return err
	})
	return added, err
}
