package follow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// renamed is a directory in which every handle belongs to one operator.
type renamed operator.ID

func (r renamed) OperatorByHandle(_ context.Context, h syntax.Handle) (operator.Operator, error) {
	return operator.Operator{ID: operator.ID(r), Handle: h}, nil
}

type untouched struct{ follow.Store }

// TestNobodyFollowsThemselves: not by their handle, and not by one that became
// theirs since the session was judged; nothing is stored.
func TestNobodyFollowsThemselves(t *testing.T) {
	t.Parallel()
	s := follow.NewService(renamed("me"), untouched{}, time.Now)
	me := operator.Operator{ID: "me", Handle: "old_name"}
	for _, handle := range []syntax.Handle{"old_name", "new_name"} {
		if _, err := s.Follow(t.Context(), me, handle); !errors.Is(err, follow.ErrSelf) {
			t.Errorf("%s: %v", handle, err)
		}
		if _, err := s.Unfollow(t.Context(), me, handle); !errors.Is(err, follow.ErrSelf) {
			t.Errorf("%s: %v", handle, err)
		}
	}
}
