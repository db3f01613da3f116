package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Follow implements follow.Store.
func (s *Store) Follow(ctx context.Context, follower, followed operator.Operator, at time.Time) error {
	if _, err := s.db.Exec(ctx, query("follow_add"), follower.ID, followed.ID, at, follower.Handle, followed.Handle); err != nil {
		return fmt.Errorf("add follow: %w", err)
	}
	return nil
}

// Unfollow implements follow.Store.
func (s *Store) Unfollow(ctx context.Context, follower, followed operator.ID) error {
	if _, err := s.db.Exec(ctx, query("follow_drop"), follower, followed); err != nil {
		return fmt.Errorf("drop follow: %w", err)
	}
	return nil
}

// FollowCounts implements follow.Store.
func (s *Store) FollowCounts(ctx context.Context, viewer, followed operator.ID) (c follow.Counts, err error) {
	err = s.read.QueryRow(ctx, query("follow_counts"), maybeText(string(viewer)), followed).Scan(&c.Followers, &c.Following, &c.IsFollowing)
	if err != nil {
		return follow.Counts{}, fmt.Errorf("count follows: %w", err)
	}
	return c, nil
}

// FollowTotals implements follow.Store.
func (s *Store) FollowTotals(ctx context.Context, of operator.ID) (t follow.Totals, err error) {
	err = s.read.QueryRow(ctx, query("follow_totals"), of).Scan(&t.Followers, &t.Following)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return follow.Totals{}, fmt.Errorf("read follow totals: %w", err)
	}
	return t, nil
}

// Followers implements follow.Store.
func (s *Store) Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error) {
	rows, err := s.read.Query(ctx, query("follow_many"), of)
	if err != nil {
		return nil, fmt.Errorf("read followers: %w", err)
	}
	out := make(map[operator.ID]int64, len(of))
	var id operator.ID
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { out[id] = n; return nil }); err != nil {
		return nil, fmt.Errorf("read followers: %w", err)
	}
	return out, nil
}
