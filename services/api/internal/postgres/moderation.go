package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/moderation"
)

// Moderate implements moderation.Store.
func (s *Store) Moderate(ctx context.Context, d moderation.Decision) error {
	return s.ofThing(ctx, "moderation_decide", d.Kind, d.ID, d.Hidden, d.Reason, d.By, d.At)
}

// ModerationDigest implements relay.Source.
func (s *Store) ModerationDigest(ctx context.Context) (string, error) {
	var digest string
	if err := s.pool.QueryRow(ctx, query("moderation_digest")).Scan(&digest); err != nil {
		return "", pg.Fault(fmt.Errorf("read decisions about text: %w", err))
	}
	return digest, nil
}

// FindModerated implements moderation.Store.
func (s *Store) FindModerated(ctx context.Context, kind, id string) error {
	return s.ofThing(ctx, "moderation_find", kind, id)
}

// ofThing runs a statement that returns whether a thing exists.
func (s *Store) ofThing(ctx context.Context, name string, args ...any) error {
	var found bool
	if err := s.pool.QueryRow(ctx, query(name), args...).Scan(&found); err != nil {
		return pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	if !found {
		return moderation.ErrNotFound
	}
	return nil
}

// ListModerated implements moderation.Store.
func (s *Store) ListModerated(ctx context.Context, limit int) ([]moderation.Decision, error) {
	rows, err := s.pool.Query(ctx, query("moderation_list"), limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list moderation: %w", err))
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[moderation.Decision])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list moderation: %w", err))
	}
	return list, nil
}

// HiddenThings implements moderation.Store.
func (s *Store) HiddenThings(ctx context.Context, things []moderation.Thing) ([]bool, error) {
	kinds, ids := make([]string, len(things)), make([]string, len(things))
	for i, t := range things {
		kinds[i], ids[i] = t.Kind, t.ID
	}
	rows, err := s.pool.Query(ctx, query("moderation_hidden"), kinds, ids)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read hidden things: %w", err))
	}
	hidden, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read hidden things: %w", err))
	}
	return hidden, nil
}
