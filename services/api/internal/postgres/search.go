package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// endOfTime is behind every row.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// ListSearchable reads what is searched of the markets whose row or quote
// changed since; the zero time is all of them.
func (s *Store) ListSearchable(ctx context.Context, since time.Time) ([]search.Doc, error) {
	name, args := "search_docs", []any(nil)
	if !since.IsZero() {
		name, args = "search_changed", []any{since}
	}
	rows, err := s.pool.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list searchable: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d search.Doc, err error) {
		err = row.Scan(&d.ID, &d.Provider, &d.Title, &d.Slug, &d.Status, &d.Lane, &d.EventKey, &d.EndDate, &d.Volume, &d.Volume24h)
		return d, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list searchable: %w", err))
	}
	return list, nil
}

// ListResolved reads the markets of a provider that have an outcome, the newest
// first, behind a place.
func (s *Store) ListResolved(ctx context.Context, p syntax.Provider, after search.Place, limit int) ([]search.Resolved, error) {
	if after.At.IsZero() {
		after = search.Place{At: endOfTime}
	}
	rows, err := s.reads.Query(ctx, query("search_resolved"), string(p), after.At, string(after.ID), limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list resolved: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r search.Resolved, err error) {
		err = row.Scan(&r.ID, &r.Title, &r.Verdict, &r.ResolvedAt, &r.ClosePrice, &r.Volume, &r.Signals)
		return r, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list resolved: %w", err))
	}
	return list, nil
}
