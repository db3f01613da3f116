package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Sample implements onair.Store.
func (s *OnAir) Sample(ctx context.Context, list []onair.Sample, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	ids, viewers := make([]string, len(list)), make([]int32, len(list))
	for i, one := range list {
		ids[i], viewers[i] = one.ShowID, int32(min(one.Viewers, 1<<31-1))
	}
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err := pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		var changed int
		if err := tx.QueryRow(ctx, query("onair_sample"), ids, viewers, now).Scan(&changed); err != nil || changed == 0 {
			return err
		}
		return stage{tx: tx}.copyLive(ctx, now)
	})
	if err != nil {
		return fmt.Errorf("keep samples: %w", err)
	}
	return nil
}

// Thin implements onair.Store.
func (s *OnAir) Thin(ctx context.Context, before time.Time) error {
	if _, err := s.db.Exec(ctx, query("onair_thin"), before); err != nil {
		return fmt.Errorf("forget samples: %w", err)
	}
	return nil
}

// Count implements onair.Store.
func (s *OnAir) Count(ctx context.Context, handle syntax.Handle) (n int64, err error) {
	if err := s.read.QueryRow(ctx, query("onair_count"), handle).Scan(&n); err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return n, nil
}

// OverlaySets implements onair.Store.
func (s *OnAir) OverlaySets(ctx context.Context, handle syntax.Handle, from time.Time) (n int64, err error) {
	if err := s.read.QueryRow(ctx, query("overlay_often"), handle, from).Scan(&n); err != nil {
		return 0, fmt.Errorf("count signals: %w", err)
	}
	return n, nil
}

// SessionWatched implements onair.Store.
func (s *OnAir) SessionWatched(ctx context.Context, id string) (w onair.Watched, err error) {
	if err := s.read.QueryRow(ctx, query("onair_watched"), id).Scan(&w.Viewers, &w.Samples); err != nil {
		return onair.Watched{}, fmt.Errorf("add up samples: %w", err)
	}
	return w, nil
}

// Around implements onair.Store.
func (s *OnAir) Around(ctx context.Context, handle syntax.Handle, who operator.ID, from, to time.Time) (a onair.Around, err error) {
	if err := s.read.QueryRow(ctx, query("onair_around"), handle, who, from, to).Scan(&a.Clips, &a.ClipViews, &a.Followers); err != nil {
		return onair.Around{}, fmt.Errorf("count around sessions: %w", err)
	}
	return a, nil
}

// Stretch implements onair.Store.
func (s *OnAir) Stretch(ctx context.Context, handle syntax.Handle, from, now time.Time) (st onair.Stretch, err error) {
	var seconds int64
	if err := s.read.QueryRow(ctx, query("onair_stretch"), handle, from, now).Scan(&st.Sessions, &seconds, &st.Peak, &st.Viewers, &st.Samples); err != nil {
		return onair.Stretch{}, fmt.Errorf("add up sessions: %w", err)
	}
	st.Live = time.Duration(seconds) * time.Second
	return st, nil
}

// Series implements onair.Store.
func (s *OnAir) Series(ctx context.Context, handle syntax.Handle, from time.Time, step time.Duration, most int) ([]onair.Step, error) {
	rows, err := s.read.Query(ctx, query("onair_series"), handle, from, int32(step/time.Second), most)
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v onair.Step, err error) {
		err = row.Scan(&v.At, &v.Viewers)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	slices.Reverse(out)
	return out, nil
}
