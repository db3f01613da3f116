package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

// Overlay implements onair.Store.
func (s *OnAir) Overlay(ctx context.Context, handle syntax.Handle, now time.Time) (onair.Overlay, bool, error) {
	o := onair.Overlay{Handle: handle}
	var closes *time.Time
	err := s.read.QueryRow(ctx, query("overlay_get"), handle, now).Scan(&o.MarketID, &o.Name, &o.YesPct, &o.Slug, &o.Annotation, &closes, &o.UpdatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return onair.Overlay{}, false, nil
	}
	if err != nil {
		return onair.Overlay{}, false, fmt.Errorf("read overlay signal: %w", err)
	}
	if closes != nil {
		o.ClosesAt = *closes
	}
	return o, true, nil
}

// SetOverlay implements onair.Store.
func (s *OnAir) SetOverlay(ctx context.Context, o onair.Overlay, until time.Time) (at time.Time, err error) {
	now := o.UpdatedAt
	err = s.turn(ctx, o.Handle, func(ctx context.Context, t stage) error {
		if err := t.allowed(ctx); err != nil {
			return err
		}
		if at, err = t.overlay(ctx, &o, now, until); err != nil {
			return err
		}
		if _, err := t.tx.Exec(ctx, query("overlay_count"), o.Handle, now); err != nil {
			return err
		}
		return t.overlaid(ctx, now)
	})
	return at, err
}

// ClearOverlay implements onair.Store.
func (s *OnAir) ClearOverlay(ctx context.Context, handle syntax.Handle, now time.Time) error {
	return s.turn(ctx, handle, func(ctx context.Context, t stage) error { return t.clear(ctx, now, false) })
}

// expire takes a signal away that came to its end.
func (t stage) expire(ctx context.Context, now time.Time) error { return t.clear(ctx, now, true) }

func (t stage) clear(ctx context.Context, now time.Time, expired bool) error {
	var due bool
	err := t.tx.QueryRow(ctx, query("overlay_state"), t.handle, now).Scan(&due)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && expired && !due {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := t.overlay(ctx, nil, now, now); err != nil {
		return err
	}
	return t.overlaid(ctx, now)
}

// overlay puts a signal, or none, in the place of the one before.
func (t stage) overlay(ctx context.Context, o *onair.Overlay, now, until time.Time) (at time.Time, err error) {
	values := []any{t.handle, nil, nil, nil, nil, nil, nil, now, until}
	if o != nil {
		var closes *time.Time
		if !o.ClosesAt.IsZero() {
			closes = &o.ClosesAt
		}
		copy(values[1:], []any{o.MarketID, o.Name, o.YesPct, o.Slug, o.Annotation, closes})
	}
	err = t.tx.QueryRow(ctx, query("overlay_set"), values...).Scan(&at)
	return at, err
}

// overlaid tells of a signal that was set or taken away. Viewers that it sends to another
// stream follow with the next heartbeat.
func (t stage) overlaid(ctx context.Context, now time.Time) error {
	if _, err := t.tx.Exec(ctx, query("overlay_tell"), t.handle, now); err != nil {
		return err
	}
	open, found, err := t.open(ctx)
	if err != nil {
		return err
	}
	return t.copies(ctx, now, found && open.At(now).Live())
}
