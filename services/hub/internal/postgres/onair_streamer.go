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

// Streamer implements onair.Store.
func (s *OnAir) Streamer(ctx context.Context, handle syntax.Handle) (onair.Streamer, error) {
	out := onair.Streamer{Status: onair.Unregistered}
	err := s.read.QueryRow(ctx, query("streamer_get"), handle).Scan(&out.Status, &out.Lanes)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return onair.Streamer{}, fmt.Errorf("read streamer: %w", err)
	}
	return out, nil
}

// BoundTo implements onair.Store.
func (s *OnAir) BoundTo(ctx context.Context, handle syntax.Handle) (url string, err error) {
	err = s.read.QueryRow(ctx, query("onair_bound"), handle).Scan(&url)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("read streams: %w", err)
	}
	return url, nil
}

// Register implements onair.Store.
func (s *OnAir) Register(ctx context.Context, handle syntax.Handle, lanes []string, now time.Time) (status onair.Status, first bool, err error) {
	err = s.turn(ctx, handle, func(ctx context.Context, t stage) error {
		err := t.tx.QueryRow(ctx, query("streamer_register"), handle, lanes, now).Scan(&status)
		if first = err == nil; errors.Is(err, pgx.ErrNoRows) {
			status, _, err = t.status(ctx)
		}
		return err
	})
	return status, first, err
}

// ChooseLanes implements onair.Store.
func (s *OnAir) ChooseLanes(ctx context.Context, handle syntax.Handle, lanes []string, now time.Time) error {
	if _, err := s.db.Exec(ctx, query("streamer_lanes"), handle, words(lanes), now); err != nil {
		return fmt.Errorf("keep lanes: %w", err)
	}
	return nil
}

// Decide implements onair.Store.
func (s *OnAir) Decide(ctx context.Context, handle syntax.Handle, status onair.Status, now time.Time) error {
	return s.turn(ctx, handle, func(ctx context.Context, t stage) error {
		before, _, err := t.status(ctx)
		if err != nil {
			return err
		}
		if _, err := t.tx.Exec(ctx, query("streamer_decide"), handle, status, now); err != nil || status == before {
			return err
		}
		if status == onair.Suspended {
			if _, _, err := t.off(ctx, now); err != nil {
				return err
			}
			if err := t.clear(ctx, now, false); err != nil {
				return err
			}
		}
		if _, err := t.tx.Exec(ctx, query("stream_show"), handle, now); err != nil {
			return err
		}
		return t.copies(ctx, now, true)
	})
}

// Hide implements onair.Store.
func (s *OnAir) Hide(ctx context.Context, handle syntax.Handle, hidden bool, provisioned string, now time.Time) error {
	return s.turn(ctx, handle, func(ctx context.Context, t stage) error {
		changed, err := t.tx.Exec(ctx, query("streamer_hide"), handle, hidden, now)
		if err != nil || changed.RowsAffected() == 0 {
			return err
		}
		if _, err := t.tx.Exec(ctx, query("stream_show"), handle, now); err != nil {
			return err
		}
		open, found, err := t.open(ctx)
		if err == nil && found && open.At(now).Open() {
			_, err = t.air(ctx, open.ID, provisioned, now)
		}
		if err != nil {
			return err
		}
		if _, err := t.tx.Exec(ctx, query("overlay_tell"), handle, now); err != nil {
			return err
		}
		return t.copies(ctx, now, true)
	})
}

// Aired implements broadcast.Streamers.
func (s *OnAir) Aired(ctx context.Context, handles []string) (map[string]bool, error) {
	return s.set(ctx, "streamer_aired", handles)
}

// Withheld implements origin.Withheld.
func (s *OnAir) Withheld(ctx context.Context) (map[string]bool, error) {
	return s.set(ctx, "origin_withheld")
}

// set reads a statement that returns one text column.
func (s *OnAir) set(ctx context.Context, name string, args ...any) (map[string]bool, error) {
	rows, err := s.read.Query(ctx, query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := map[string]bool{}
	var key string
	if _, err := pgx.ForEachRow(rows, []any{&key}, func() error { out[key] = true; return nil }); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// Announce implements onair.Store.
func (s *OnAir) Announce(ctx context.Context, b onair.Broadcast) error {
	var scheduled *time.Time
	if !b.ScheduledFor.IsZero() {
		scheduled = &b.ScheduledFor
	}
	_, err := s.db.Exec(ctx, query("broadcast_add"), b.ID, b.Owner, b.Title, maybeText(string(b.MarketID)),
		maybeText(b.StationID), maybeText(string(b.Lane)), scheduled, b.CreatedAt)
	if err != nil {
		return fmt.Errorf("keep broadcast: %w", err)
	}
	return nil
}

// Broadcast implements onair.Store.
func (s *OnAir) Broadcast(ctx context.Context, id string) (onair.Broadcast, bool, error) {
	b := onair.Broadcast{ID: id}
	var scheduled *time.Time
	err := s.read.QueryRow(ctx, query("broadcast_get"), id).Scan(&b.Owner, &b.Title, &b.MarketID, &b.StationID, &b.Lane, &scheduled, &b.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return onair.Broadcast{}, false, nil
	}
	if err != nil {
		return onair.Broadcast{}, false, fmt.Errorf("read broadcast: %w", err)
	}
	if scheduled != nil {
		b.ScheduledFor = *scheduled
	}
	return b, true, nil
}
