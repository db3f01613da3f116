package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/station"
)

// Bind implements station.Streams.
func (s *Store) Bind(ctx context.Context, b station.Stream) error {
	return s.OnAir().turn(ctx, b.Handle, func(ctx context.Context, t stage) error {
		if err := t.allowed(ctx); err != nil {
			return err
		}
		_, err := t.tx.Exec(ctx, query("stream_bind"), b.MarketID, b.Handle, b.URL, b.Label, b.UpdatedAt)
		return err
	})
}

// Unbind implements station.Streams.
func (s *Store) Unbind(ctx context.Context, id syntax.MarketID, by syntax.Handle, at time.Time) (bool, error) {
	var n int
	if err := s.db.QueryRow(ctx, query("stream_unbind"), id, by, at).Scan(&n); err != nil {
		return false, fmt.Errorf("unbind stream: %w", err)
	}
	return n > 0, nil
}

// Streams implements station.Streams.
func (s *Store) Streams(ctx context.Context, id syntax.MarketID) ([]station.Stream, error) {
	rows, err := s.read.Query(ctx, query("stream_list"), id, station.MaxStreams)
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (station.Stream, error) {
		b := station.Stream{MarketID: id}
		err := row.Scan(&b.Handle, &b.URL, &b.Label, &b.UpdatedAt)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	return out, nil
}

// Clips implements station.Clips.
func (s *Store) Clips(ctx context.Context, id syntax.MarketID, limit int) ([]station.Clip, error) {
	rows, err := s.read.Query(ctx, query("clip_list"), id, limit)
	if err != nil {
		return nil, fmt.Errorf("list clips: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (station.Clip, error) {
		c := station.Clip{MarketID: id}
		err := row.Scan(&c.ID, &c.Handle, &c.URL, &c.ThumbnailURL, &c.Duration, &c.Status, &c.Stance,
			&c.Views, &c.Boosted, &c.CreatedBy, &c.CreatedAt, &c.ReadyAt, &c.Title)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("list clips: %w", err)
	}
	return out, nil
}
