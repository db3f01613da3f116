package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/moderation"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// Moderate implements moderation.Store.
func (s *Store) Moderate(ctx context.Context, d moderation.Decision) error {
	found, err := s.q.DecideModeration(ctx, db.DecideModerationParams{
		Kind: d.Kind, ID: d.ID, Hidden: d.Hidden, Reason: d.Reason, DecidedBy: d.By, Now: d.At,
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("store moderation decision: %w", err))
	}
	return ifFound(found)
}

// Author implements moderation.Store.
func (s *Store) Author(ctx context.Context, t moderation.Thing) (operatorID, signalID string, err error) {
	row, err := s.q.GetModeratedAuthor(ctx, db.GetModeratedAuthorParams{Kind: t.Kind, ID: t.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", nil
	}
	return row.OperatorID, row.SignalID, pg.Fault(wrap("find author", err))
}

// ModerationDigest implements feed.Store.
func (s *Store) ModerationDigest(ctx context.Context) (string, error) {
	digest, err := s.q.GetModerationDigest(ctx)
	return digest, pg.Fault(wrap("read moderation digest", err))
}

// FindModerated implements moderation.Store.
func (s *Store) FindModerated(ctx context.Context, kind, id string) error {
	found, err := s.q.FindModerated(ctx, db.FindModeratedParams{Kind: kind, ID: id})
	if err != nil {
		return pg.Fault(fmt.Errorf("find moderated object: %w", err))
	}
	return ifFound(found)
}

func ifFound(found bool) error {
	if !found {
		return moderation.ErrNotFound
	}
	return nil
}

// ListModerated implements moderation.Store.
func (s *Store) ListModerated(ctx context.Context, limit int) ([]moderation.Decision, error) {
	rows, err := s.q.ListModerated(ctx, int32(limit))
	return pg.Collect(rows, func(r db.ListModeratedRow) moderation.Decision {
		return moderation.Decision{Kind: r.Kind, ID: r.ID, Hidden: r.Hidden, Reason: r.Reason, By: r.DecidedBy, At: r.DecidedAt}
	}), pg.Fault(wrap("list moderation", err))
}

// AreHidden implements moderation.Store.
func (s *Store) AreHidden(ctx context.Context, things []moderation.Thing) ([]bool, error) {
	var p db.ListHiddenParams
	for _, t := range things {
		p.Kinds, p.IDs = append(p.Kinds, t.Kind), append(p.IDs, t.ID)
	}
	hidden, err := s.q.ListHidden(ctx, p)
	return hidden, pg.Fault(wrap("read hidden objects", err))
}
