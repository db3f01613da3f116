package follow

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ErrSelf is the error of a request of an operator to follow or unfollow itself.
var ErrSelf = apperr.New(apperr.Invalid, "invalid_handle", "you cannot follow yourself").With("field", "handle")

// Totals has two numbers: the followers of an operator, and the operators that this operator follows.
type Totals struct{ Followers, Following int64 }

// Counts contains the follow counts of an operator for a viewer. Followers is the number of followers of the operator.
// Following is the number of operators that the viewer follows. IsFollowing reports whether the viewer follows the operator.
type Counts struct {
	Followers, Following int64
	IsFollowing          bool
}

// Store stores follows and their totals. Error of all methods: db_unavailable.
type Store interface {
	// Follow and Unfollow start and end a follow. Repeated and concurrent calls change nothing more.
	Follow(ctx context.Context, follower, followed operator.Operator, at time.Time) error
	Unfollow(ctx context.Context, follower, followed operator.ID, at time.Time) error
	// FollowCounts returns the counts of an operator for a viewer. If viewer is empty, Following is 0 and IsFollowing is false.
	FollowCounts(ctx context.Context, viewer, followed operator.ID) (Counts, error)
	FollowTotals(ctx context.Context, of operator.ID) (Totals, error)
	// Followers returns the number of followers of each operator. It omits operators without followers.
	Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error)
	// SetFollow changes what a follower is notified of. A kind that is switched on, or no longer muted, starts at the time at. It
	// reports whether the follow exists.
	SetFollow(ctx context.Context, follower, followed operator.ID, to Switches, at time.Time) (bool, error)
	// ListFollowing returns follows of an operator after the entry after, the newest first. The zero value of after is the start.
	ListFollowing(ctx context.Context, follower operator.ID, after Followed, limit int) ([]Followed, error)
}

// Service starts, ends and counts follows.
type Service struct {
	directory operator.Directory
	store     Store
	now       func() time.Time
}

// NewService returns a Service that finds operators in directory and stores follows in store.
func NewService(directory operator.Directory, store Store, now func() time.Time) *Service {
	return &Service{directory: directory, store: store, now: now}
}

// Follow makes the operator me follow the operator with this handle, and returns the new counts. A repeated call changes nothing.
// Errors: ErrSelf, not_found, and the errors of the directory and the store.
func (s *Service) Follow(ctx context.Context, me operator.Operator, handle protocol.Handle) (Counts, error) {
	return s.change(ctx, me, handle, func(followed operator.Operator) error {
		return s.store.Follow(ctx, me, followed, s.now())
	})
}

// Unfollow makes the operator me stop following the operator with this handle, and returns the new counts. It changes nothing if
// me does not follow the operator. It has the same errors as Follow.
func (s *Service) Unfollow(ctx context.Context, me operator.Operator, handle protocol.Handle) (Counts, error) {
	return s.change(ctx, me, handle, func(followed operator.Operator) error {
		return s.store.Unfollow(ctx, me.ID, followed.ID, s.now())
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
	if other.ID == me.ID { // the handle changed after the session was verified
		return Counts{}, ErrSelf
	}
	if err := do(other); err != nil {
		return Counts{}, err
	}
	return s.store.FollowCounts(ctx, me.ID, other.ID)
}

// Counts returns the counts of an operator for viewer, which may be empty. Errors: not_found, and the errors of the directory and
// the store.
func (s *Service) Counts(ctx context.Context, viewer operator.ID, handle protocol.Handle) (Counts, error) {
	other, err := s.directory.ByHandle(ctx, handle)
	if err != nil {
		return Counts{}, err
	}
	return s.store.FollowCounts(ctx, viewer, other.ID)
}

// Followers returns the number of followers of each operator. It omits operators without followers. Error: db_unavailable.
func (s *Service) Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return s.store.Followers(ctx, of)
}

// Totals returns the follow totals of an operator. Error: db_unavailable.
func (s *Service) Totals(ctx context.Context, of operator.ID) (Totals, error) {
	return s.store.FollowTotals(ctx, of)
}

// Followed is an operator that a follower follows. Calls, Live and Takes report whether the follower is notified of calls, starts
// of streams and takes of this operator. While Muted is true, the follower is notified of none.
type Followed struct {
	ID                 operator.ID
	Since              time.Time
	Muted              bool
	Calls, Live, Takes bool
}

// Switches are changes of what a follower is notified of. A nil field changes nothing.
type Switches struct{ Muted, Calls, Live, Takes *bool }

// MaxFollowing is the maximum number of operators that a page of Following has.
const MaxFollowing = 100

// Set changes what the operator me is notified of about the operator with this handle. It reports whether me follows it; otherwise
// nothing changes. Errors: ErrSelf, not_found, and the errors of the directory and the store.
func (s *Service) Set(ctx context.Context, me operator.Operator, handle protocol.Handle, to Switches) (bool, error) {
	if handle == me.Handle {
		return false, ErrSelf
	}
	other, err := s.directory.ByHandle(ctx, handle)
	if err != nil {
		return false, err
	}
	return s.store.SetFollow(ctx, me.ID, other.ID, to, s.now())
}

// Following returns the operators that me follows, the newest follow first. after is the last entry of the page before; the zero
// value requests the first page. A page has at most MaxFollowing entries. Error: db_unavailable.
func (s *Service) Following(ctx context.Context, me operator.ID, after Followed) ([]Followed, error) {
	return s.store.ListFollowing(ctx, me, after, MaxFollowing)
}
