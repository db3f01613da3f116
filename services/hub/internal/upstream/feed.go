package upstream

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/syntax"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/hub/internal/feed"
)

// Feed is the ledger's feed, which this service tells what it has committed and whose
// newest events its pages show.
type Feed struct {
	write feedv1.FeedServiceClient
	read  feedv1.FeedReadServiceClient
}

// NewFeed uses a connection to the ledger.
func NewFeed(cc grpc.ClientConnInterface) *Feed {
	return &Feed{feedv1.NewFeedServiceClient(cc), feedv1.NewFeedReadServiceClient(cc)}
}

// me begins the name of the channel of what one operator alone hears.
const me = "me:"

// Publish sends facts: those for one operator alone as news, the others to be numbered.
func (f *Feed) Publish(ctx context.Context, facts []outbox.Fact) error {
	r := &feedv1.PublishRequest{}
	for _, one := range facts {
		at := timestamppb.New(one.At)
		if strings.HasPrefix(one.Topic, me) {
			r.News = append(r.News, &feedv1.News{Channel: one.Topic, Type: one.Type, At: at, Data: one.Data})
			continue
		}
		r.Facts = append(r.Facts, &feedv1.Fact{
			Id: one.ID, Type: one.Type, At: at, MarketId: one.MarketID, Handle: one.Handle, Topic: one.Topic, Data: one.Data,
		})
	}
	_, err := f.write.Publish(ctx, r)
	return err
}

// Newest implements feed.Reader.
func (f *Feed) Newest(ctx context.Context, q feed.Query) (feed.Page, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := f.read.ListEvents(ctx, &feedv1.ListEventsRequest{Types: q.Types, Lane: string(q.Lane), Limit: int32(q.Limit)})
	if err != nil {
		return feed.Page{}, err
	}
	out := feed.Page{Head: r.GetHead(), Events: make([]feed.Event, 0, len(r.GetEvents()))}
	for _, e := range r.GetEvents() {
		out.Events = append(out.Events, feed.Event{
			Seq: e.GetSeq(), Type: e.GetType(), At: at(e.GetAt()), Handle: e.GetHandle(),
			MarketID: syntax.MarketID(e.GetMarketId()), Data: e.GetData(),
		})
	}
	return out, nil
}
