package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

// Spotlight implements broadcast.Spotlights.
func (s *Store) Spotlight(ctx context.Context) (broadcast.Held, error) {
	var h broadcast.Held
	err := s.read.QueryRow(ctx, query("spotlight_get")).Scan(&h.Version, &h.Reason, &h.ShowID, &h.MarketID, &h.Title, &h.Yes, &h.Lane,
		&h.Handle, &h.HLSURL, &h.Viewers, &h.SegmentID, &h.StartedAt, &h.ExpiresAt, &h.ChosenAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return broadcast.Held{}, nil
	}
	if err != nil {
		return broadcast.Held{}, fmt.Errorf("read spotlight: %w", err)
	}
	return h, nil
}

// HoldSpotlight implements broadcast.Spotlights.
func (s *Store) HoldSpotlight(ctx context.Context, one broadcast.Spotlight, version int64) (broadcast.Held, error) {
	_, err := s.db.Exec(ctx, query("spotlight_hold"), version, string(one.Reason), one.ShowID, one.MarketID, one.Title, one.Yes, string(one.Lane),
		string(one.Handle), one.HLSURL, one.Viewers, one.SegmentID, one.StartedAt, one.ExpiresAt, one.ChosenAt)
	if err != nil {
		return broadcast.Held{}, fmt.Errorf("hold spotlight: %w", err)
	}
	return s.Spotlight(ctx)
}

// CountTapes implements broadcast.Tapes.
func (s *Store) CountTapes(ctx context.Context, ids []syntax.MarketID) (map[syntax.MarketID]int64, error) {
	rows, err := s.read.Query(ctx, query("clip_counts"), ids)
	if err != nil {
		return nil, fmt.Errorf("count clips: %w", err)
	}
	out := make(map[syntax.MarketID]int64)
	var id syntax.MarketID
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { out[id] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count clips: %w", err)
	}
	return out, nil
}
