package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// FeedReader reads the feed.
type FeedReader interface {
	FeedHead(ctx context.Context) (int64, error)
	ListFeedEvents(ctx context.Context, q feed.Query) (feed.Page, error)
}

// FeedReads serves FeedReadService.
type FeedReads struct {
	feedv1.UnimplementedFeedReadServiceServer
	feed FeedReader
}

// NewFeedReads wires the face.
func NewFeedReads(r FeedReader) *FeedReads { return &FeedReads{feed: r} }

const maxEvents = 200

// ListEvents lists the newest events, or those below a number. Faults: db_unavailable.
func (f *FeedReads) ListEvents(ctx context.Context, r *feedv1.ListEventsRequest) (*feedv1.ListEventsResponse, error) {
	q := feed.Query{
		Lane: syntax.LaneFilter(r.GetLane()).String(), Limit: min(max(int(r.GetLimit()), 1), maxEvents),
		From: max(r.GetBefore(), 0), Topic: feed.Channel(r.GetTopic()).Topic(),
	}
	for _, name := range r.GetTypes() {
		if t, ok := feed.ParseType(name); ok {
			q.Types = append(q.Types, t)
		}
	}
	// The number first: what comes meanwhile is in the list as well.
	head, err := f.feed.FeedHead(ctx)
	if err != nil {
		return nil, err
	}
	out := &feedv1.ListEventsResponse{Head: head}
	if len(q.Types) == 0 && len(r.GetTypes()) > 0 {
		return out, nil
	}
	p, err := f.feed.ListFeedEvents(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range p.Events {
		e := &p.Events[i]
		out.Events = append(out.Events, &feedv1.Event{
			Seq: e.Seq, Id: e.ID, Type: string(e.Type), At: timestamppb.New(e.At), Handle: e.Handle, MarketId: e.MarketID, Data: string(e.Data),
		})
	}
	return out, nil
}
