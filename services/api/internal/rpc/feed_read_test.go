package rpc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/testkit"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
)

// tape is a feed that notes what it was asked.
type tape struct{ asked []feed.Query }

func (r *tape) FeedHead(context.Context) (int64, error) { return 88, nil }

func (r *tape) ListFeedEvents(_ context.Context, q feed.Query) (feed.Page, error) {
	r.asked = append(r.asked, q)
	return feed.Page{Events: []feed.Event{{Seq: 41, ID: "0199f0b0-0000-7000-8000-000000000001", Type: feed.SegmentStarted, At: time.Unix(1, 0), Data: []byte(`{}`)}}}, nil
}

// Events are asked for below a number and, where they are a programme's, by channel.
func TestFeedBelowANumber(t *testing.T) {
	t.Parallel()
	r := &tape{}
	c := feedv1.NewFeedReadServiceClient(testkit.Link(t, func(s grpc.ServiceRegistrar) { feedv1.RegisterFeedReadServiceServer(s, rpc.NewFeedReads(r)) }))
	for _, ask := range []*feedv1.ListEventsRequest{
		{Limit: 3, Before: 42, Topic: "program:default", Types: []string{"segment.started", "nothing"}},
		{Limit: 9000, Before: -1, Topic: "market:1"},
	} {
		got, err := c.ListEvents(t.Context(), ask)
		if err != nil || got.GetHead() != 88 || len(got.GetEvents()) != 1 || got.GetEvents()[0].GetId() != "0199f0b0-0000-7000-8000-000000000001" {
			t.Errorf("%v: %v, %v", ask, got, err)
		}
	}
	want := "[{[segment.started]  []  program:default 3 false 42} {[]  []   200 false 0}]"
	if got := fmt.Sprint(r.asked); got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}
