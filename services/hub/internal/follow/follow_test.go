package follow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// renamed is a fake of the ledger in which all handles belong to the operator with this id.
type renamed struct {
	operatorv1.OperatorReadServiceClient
	id string
}

func (r renamed) GetOperator(_ context.Context, q *operatorv1.GetOperatorRequest, _ ...grpc.CallOption) (*operatorv1.GetOperatorResponse, error) {
	return &operatorv1.GetOperatorResponse{Operator: &operatorv1.Operator{Id: r.id, Handle: q.GetHandle()}}, nil
}

type untouched struct{ follow.Store }

// TestSelfFollow checks that operators cannot follow themselves and that nothing is stored. This also applies to a handle that
// became theirs after their session was verified.
func TestSelfFollow(t *testing.T) {
	t.Parallel()
	s := follow.NewService(operator.Directory{Ledger: renamed{id: "me"}}, untouched{}, time.Now)
	me := operator.Operator{ID: "me", Handle: "old_name"}
	for _, handle := range []protocol.Handle{"old_name", "new_name"} {
		if _, err := s.Follow(t.Context(), me, handle); !errors.Is(err, follow.ErrSelf) {
			t.Errorf("%s: %v", handle, err)
		}
		if _, err := s.Unfollow(t.Context(), me, handle); !errors.Is(err, follow.ErrSelf) {
			t.Errorf("%s: %v", handle, err)
		}
	}
}
