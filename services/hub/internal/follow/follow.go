package follow

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ErrSelf is the answer to following oneself.
var ErrSelf = apperr.New(apperr.Invalid, "invalid_handle", "nobody follows themselves").With("field", "handle")

// Totals are how many follow an operator, and how many it follows.
type Totals struct{ Followers, Following int64 }

// Counts is what one operator looks like to another: its followers, how many the
// one that looks follows, and whether this one is among them.
type Counts struct {
	Followers, Following int64
	IsFollowing          bool
}

// Store keeps follows and their totals. Error: db_unavailable.
type Store interface {
	// Follow and Unfollow may come twice, also at once: the totals move once.
	Follow(ctx context.Context, follower, followed operator.Operator, at time.Time) error
	Unfollow(ctx context.Context, follower, followed operator.ID) error
	// FollowCounts gives zeros for a viewer of nobody (empty).
	FollowCounts(ctx context.Context, viewer, followed operator.ID) (Counts, error)
	FollowTotals(ctx context.Context, of operator.ID) (Totals, error)
	// Followers leaves out those whom nobody follows.
	Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error)
}

// Service follows.
type Service struct {
	directory operator.Directory
	store     Store
	now       func() time.Time
}

// NewService builds a Service.
func NewService(directory operator.Directory, store Store, now func() time.Time) *Service {
	return &Service{directory: directory, store: store, now: now}
}

// Follow makes me follow an operator; a second time changes nothing.
// Errors: ErrSelf, not_found, those of the ports.
func (s *Service) Follow(ctx context.Context, me operator.Operator, handle protocol.Handle) (Counts, error) {
	return s.change(ctx, me, handle, func(followed operator.Operator) error {
		return s.store.Follow(ctx, me, followed, s.now())
	})
}

// Unfollow undoes Follow; where there is nothing to undo it changes nothing.
// Errors: as Follow.
func (s *Service) Unfollow(ctx context.Context, me operator.Operator, handle protocol.Handle) (Counts, error) {
	return s.change(ctx, me, handle, func(followed operator.Operator) error {
		return s.store.Unfollow(ctx, me.ID, followed.ID)
	})
}

func (s *Service) change(ctx context.Context, me operator.Operator, handle protocol.Handle, do func(operator.Operator) error) (Counts, error) {
	if handle == me.Handle {
		return Counts{}, ErrSelf
	}
	other, err := s.directory.ByHandle(ctx, handle)
	if err != nil {
		return Counts{}, err
	}
	if other.ID == me.ID { // the handle has changed since the session was judged
		return Counts{}, ErrSelf
	}
	if err := do(other); err != nil {
		return Counts{}, err
	}
	return s.store.FollowCounts(ctx, me.ID, other.ID)
}

// Counts tells how many follow an operator; viewer may be empty.
// Errors: not_found, those of the ports.
func (s *Service) Counts(ctx context.Context, viewer operator.ID, handle protocol.Handle) (Counts, error) {
	other, err := s.directory.ByHandle(ctx, handle)
	if err != nil {
		return Counts{}, err
	}
	return s.store.FollowCounts(ctx, viewer, other.ID)
}

// Followers tells how many follow each of many operators; those whom nobody
// follows are left out. Error: db_unavailable.
func (s *Service) Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return s.store.Followers(ctx, of)
}

// Totals tells both numbers of one operator. Error: db_unavailable.
func (s *Service) Totals(ctx context.Context, of operator.ID) (Totals, error) {
	return s.store.FollowTotals(ctx, of)
}
