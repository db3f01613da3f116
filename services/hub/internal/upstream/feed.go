package upstream

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// Feed is the ledger's feed, which this service tells what it has committed.
type Feed struct {
	write feedv1.FeedServiceClient
}

// NewFeed uses a connection to the ledger.
func NewFeed(cc grpc.ClientConnInterface) *Feed { return &Feed{feedv1.NewFeedServiceClient(cc)} }

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
