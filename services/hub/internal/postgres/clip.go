package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

// AddClip implements clip.Store. Whoever asks and the stream are locked until the clip
// stands, always in the same order, so that racing wishes are counted one by one.
func (s *Store) AddClip(ctx context.Context, d clip.Draft) (v clip.Verdict, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err = pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		locks := []string{"by:" + d.By.String(), "of:" + d.Handle.String()}
		slices.Sort(locks)
		for _, l := range locks {
			if _, err := tx.Exec(ctx, query("clip_lock"), l); err != nil {
				return fmt.Errorf("lock clips: %w", err)
			}
		}
		at := d.At.UTC()
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		var byMaker, ofStream int
		var last *time.Time
		if err := tx.QueryRow(ctx, query("clip_count"), d.By, d.Handle, day).Scan(&byMaker, &ofStream, &last); err != nil {
			return fmt.Errorf("count clips: %w", err)
		}
		switch {
		case max(byMaker, ofStream) >= clip.PerDay:
			v = clip.Verdict{Daily: true, Wait: day.AddDate(0, 0, 1).Sub(at)}
			return nil
		case last != nil && at.Before(last.Add(clip.Cooldown)):
			v = clip.Verdict{Wait: last.Add(clip.Cooldown).Sub(at)}
			return nil
		}
		_, err := tx.Exec(ctx, query("clip_add"), d.ID, d.Handle, d.MarketID, d.ShowID, d.Title, d.Stance, d.By, d.At)
		if err != nil {
			return fmt.Errorf("add clip: %w", err)
		}
		return nil
	})
	return v, err
}

// TakeClip implements clip.Store.
func (s *Store) TakeClip(ctx context.Context, now, until time.Time) (clip.Job, bool, error) {
	var j clip.Job
	err := s.db.QueryRow(ctx, query("clip_take"), now, until).Scan(&j.ID, &j.Handle, &j.At, &j.Tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return clip.Job{}, false, nil
	}
	if err != nil {
		return clip.Job{}, false, fmt.Errorf("take clip: %w", err)
	}
	return j, true, nil
}

// ReadyClip implements clip.Store.
func (s *Store) ReadyClip(ctx context.Context, id string, f clip.Film, now time.Time) error {
	seconds := int(math.Round(f.Length.Seconds()))
	if _, err := s.db.Exec(ctx, query("clip_ready"), id, f.URL, f.Thumbnail, seconds, now); err != nil {
		return fmt.Errorf("finish clip: %w", err)
	}
	return nil
}

// FailClip implements clip.Store.
func (s *Store) FailClip(ctx context.Context, id, reason string) error {
	if _, err := s.db.Exec(ctx, query("clip_fail"), id, reason); err != nil {
		return fmt.Errorf("fail clip: %w", err)
	}
	return nil
}

// DropClip implements clip.Store.
func (s *Store) DropClip(ctx context.Context, id string) error {
	if _, err := s.db.Exec(ctx, query("clip_drop"), id); err != nil {
		return fmt.Errorf("drop clip: %w", err)
	}
	return nil
}
