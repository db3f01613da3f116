package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/outbox"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// ledger is a fake of the ledger: it records the news, and has a handle for every operator except "unknown".
type ledger struct {
	feedv1.FeedServiceClient
	operatorv1.OperatorReadServiceClient
	news     []string
	requests int
}

func (l *ledger) Publish(_ context.Context, q *feedv1.PublishRequest, _ ...grpc.CallOption) (*feedv1.PublishResponse, error) {
	l.requests++
	for _, n := range q.GetNews() {
		l.news = append(l.news, n.GetChannel()+" "+n.GetType()+" "+n.GetSubject()+" "+n.GetData())
	}
	return &feedv1.PublishResponse{}, nil
}

func (l *ledger) ListOperators(_ context.Context, q *operatorv1.ListOperatorsRequest, _ ...grpc.CallOption) (*operatorv1.ListOperatorsResponse, error) {
	r := &operatorv1.ListOperatorsResponse{}
	for _, id := range q.GetIds() {
		if id != "unknown" {
			r.Operators = append(r.Operators, &operatorv1.Operator{Id: id, Handle: "handle_" + id})
		}
	}
	return r, nil
}

// TestNoticesReachTheirUsersOnly checks that each notification is published on the private channel of its user, in requests of at
// most 500.
func TestNoticesReachTheirUsersOnly(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	f := upstream.Feed{Ledger: l, Handles: l}
	const few = `{"kind":"milestone","ids":{"a":"1","b":"2","unknown":"3"}}`
	if err := f.Publish(t.Context(), []outbox.Fact{{Type: "notification.created", At: time.Now(), Data: few}}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(l.news)
	if want := []string{
		`me:handle_a notification.created 1 {"id":"1","kind":"milestone"}`, `me:handle_b notification.created 2 {"id":"2","kind":"milestone"}`,
	}; !slices.Equal(l.news, want) || l.requests != 1 {
		t.Errorf("%d requests with the news %q, want one with %q", l.requests, l.news, want)
	}
	ids := map[string]string{}
	for i := range 501 {
		ids[fmt.Sprint("user", i)] = fmt.Sprint(i)
	}
	many, err := json.Marshal(map[string]any{"kind": "followed", "ids": ids})
	if err != nil {
		t.Fatal(err)
	}
	*l = ledger{}
	if err := f.Publish(t.Context(), []outbox.Fact{{Type: "notification.created", Data: string(many)}}); err != nil || l.requests != 2 || len(l.news) != 501 {
		t.Errorf("%d requests with %d news, error %v; want 2 with 501", l.requests, len(l.news), err)
	}
}
