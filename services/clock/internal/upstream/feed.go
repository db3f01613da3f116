package upstream

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// Feed is the ledger's feed, which this service tells what it has committed.
type Feed struct {
	write feedv1.FeedServiceClient
}

// NewFeed uses a connection to the ledger.
func NewFeed(cc grpc.ClientConnInterface) *Feed {
	return &Feed{feedv1.NewFeedServiceClient(cc)}
}

// Publish sends what waits: facts to be numbered, and copies of what channels begin
// with. They are kept together, so a fact is not seen before the copy that knows of it.
func (f *Feed) Publish(ctx context.Context, facts []outbox.Fact) error {
	r := &feedv1.PublishRequest{}
	for _, one := range facts {
		at := timestamppb.New(one.At)
		if one.Type == program.ChannelCopy {
			r.Copies = append(r.Copies, &feedv1.Copy{Channel: one.Topic, At: at, Data: one.Data})
			continue
		}
		r.Facts = append(r.Facts, &feedv1.Fact{
			Id: one.ID, Type: one.Type, At: at, MarketId: one.MarketID, Handle: one.Handle, Topic: one.Topic, Data: one.Data,
		})
	}
	_, err := f.write.Publish(ctx, r)
	return err
}
