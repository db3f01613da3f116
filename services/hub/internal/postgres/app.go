package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// Grants keeps apps, consents, grants and tokens. It implements the four ports of
// package grant.
type Grants struct {
	pool   *pgxpool.Pool
	read   *pg.DB
	budget time.Duration // of a transaction
}

// NewGrants makes the store of delegated sign-in over an open pool. Every step may
// take budget; 0 is a second for a write and pg.ReadBudget for a read.
func NewGrants(pool *pgxpool.Pool, budget time.Duration) *Grants {
	if budget > 0 {
		return &Grants{pool: pool, read: pg.Bound(pool, budget), budget: budget}
	}
	return &Grants{pool: pool, read: pg.Bound(pool, pg.ReadBudget), budget: writeBudget}
}

// wideBudget is how long a step may take that touches many rows: the end of an app
// with all of its grants, a sweep.
const wideBudget = 10 * time.Second

// inTx runs a business step in one transaction within the budget.
func (g *Grants) inTx(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	return g.inTime(ctx, g.budget, do)
}

func (g *Grants) inTime(ctx context.Context, budget time.Duration, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return pg.InTx(ctx, g.pool, func(tx pgx.Tx) error { return do(ctx, tx) })
}

// AddApp implements grant.Apps.
func (g *Grants) AddApp(ctx context.Context, a grant.App, limit int) error {
	return g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("app_line"), a.OwnerID); err != nil {
			return fmt.Errorf("line up for apps: %w", err)
		}
		var active int
		if err := tx.QueryRow(ctx, query("app_count"), a.OwnerID).Scan(&active); err != nil {
			return fmt.Errorf("count apps: %w", err)
		}
		if active >= limit {
			return grant.ErrAppLimit
		}
		_, err := tx.Exec(ctx, query("app_add"), a.ID, a.OwnerID, a.Kind, a.Name, a.RedirectURIs, a.Scopes.Words(), a.Homepage, a.LogoURL,
			words(a.AllowedResources), hashBytes(a.Secret), hashBytes(a.OldSecret), maybeTime(a.OldSecretUntil), a.CreatedAt, maybeTime(a.DisabledAt))
		if err != nil {
			return fmt.Errorf("insert app: %w", err)
		}
		return nil
	})
}

// ListApps implements grant.Apps.
func (g *Grants) ListApps(ctx context.Context, ownerID string) ([]grant.App, error) {
	rows, err := g.read.Query(ctx, query("app_list"), ownerID)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	apps, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a grant.App, err error) {
		err = row.Scan(appFields(&a)...)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	return apps, nil
}

// FindApp implements grant.Apps.
func (g *Grants) FindApp(ctx context.Context, id string) (*grant.App, error) {
	return findApp(ctx, g.read, "app_find", id)
}

// ChangeApp implements grant.Apps.
func (g *Grants) ChangeApp(ctx context.Context, ownerID, id string, change func(*grant.App) error) (grant.App, error) {
	var changed grant.App
	err := g.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a, err := findApp(ctx, tx, "app_lock", maybeText(ownerID), id)
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
		_, err = tx.Exec(ctx, query("app_change"), a.ID, a.Name, a.RedirectURIs, a.Scopes.Words(), a.Homepage, a.LogoURL,
			words(a.AllowedResources), hashBytes(a.Secret), hashBytes(a.OldSecret), maybeTime(a.OldSecretUntil), maybeTime(a.TrustedAt))
		if err != nil {
			return fmt.Errorf("change app: %w", err)
		}
		return nil
	})
	return changed, err
}

// DisableApp implements grant.Apps.
func (g *Grants) DisableApp(ctx context.Context, ownerID, id string, now time.Time) error {
	return g.inTime(ctx, max(g.budget, wideBudget), func(ctx context.Context, tx pgx.Tx) error {
		a, err := findApp(ctx, tx, "app_lock", maybeText(ownerID), id)
		if err != nil {
			return err
		}
		if a == nil {
			return grant.ErrNotFound
		}
		if !a.Active() {
			return nil
		}
		if _, err := tx.Exec(ctx, query("app_disable"), id, now); err != nil {
			return fmt.Errorf("disable app: %w", err)
		}
		rows, err := tx.Query(ctx, query("grant_revoke_app"), id, now)
		if err != nil {
			return fmt.Errorf("revoke the grants of an app: %w", err)
		}
		ended, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("revoke the grants of an app: %w", err)
		}
		return endSigners(ctx, tx, ended, now)
	})
}

// asker is what a single row can be asked of: the pool, or a transaction.
type asker interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// findApp gives nil when the statement finds none.
func findApp(ctx context.Context, from asker, name string, args ...any) (*grant.App, error) {
	var a grant.App
	err := from.QueryRow(ctx, query(name), args...).Scan(appFields(&a)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &a, nil
}

func appFields(a *grant.App) []any {
	return []any{
		&a.ID, &a.OwnerID, &a.Kind, &a.Name, &a.RedirectURIs, scanScopes(&a.Scopes), &a.Homepage, &a.LogoURL, &a.AllowedResources,
		scanHash(&a.Secret), scanHash(&a.OldSecret), scanTime(&a.OldSecretUntil), scanTime(&a.CreatedAt), scanTime(&a.DisabledAt), scanTime(&a.TrustedAt),
	}
}

// scan turns one column into something of package grant.
type scan[T any] func(T) error

// Scan implements sql.Scanner.
func (s scan[T]) Scan(src any) error {
	var v T
	if src != nil {
		var ok bool
		if v, ok = src.(T); !ok {
			return fmt.Errorf("cannot read a %T", src)
		}
	}
	return s(v)
}

// scanTime reads a time; null is the zero time.
func scanTime(into *time.Time) scan[time.Time] {
	return func(v time.Time) error {
		if *into = v; !v.IsZero() {
			*into = v.UTC()
		}
		return nil
	}
}

// scanScopes reads a list of texts.
func scanScopes(into *grant.Scopes) *[]grant.Scope { return (*[]grant.Scope)(into) }

// scanText reads a text; null is the empty one.
func scanText[T ~string](into *T) scan[string] {
	return func(v string) error { *into = T(v); return nil }
}

// scanHash reads a SHA-256; null is nil.
func scanHash(into **grant.Hash) scan[[]byte] {
	return func(v []byte) error {
		*into = nil
		if v == nil {
			return nil
		}
		h := new(grant.Hash)
		if copy(h[:], v) != len(v) || len(v) != len(h) {
			return fmt.Errorf("a hash of %d bytes", len(v))
		}
		*into = h
		return nil
	}
}

func hashBytes(h *grant.Hash) []byte {
	if h == nil {
		return nil
	}
	return h[:]
}

func maybeTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func maybeText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// words is a list that is never null.
func words(list []string) []string { return append([]string{}, list...) }
