package upstream

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/syntax"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/hub/internal/feed"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
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

// The channels of one operator, by what their names begin with.
const (
	me       = "me:"
	overlay  = "overlay:"
	operated = "operator:"
)

const (
	snapshot = "snapshot"        // only says how a channel begins from now on
	viewers  = "viewers.updated" // of one operator in the live list
)

// Publish sends facts: those for one operator alone as news, how channels begin as
// copies, a signal over somebody's picture as both, and all others to be numbered.
func (f *Feed) Publish(ctx context.Context, facts []outbox.Fact) error {
	r := &feedv1.PublishRequest{}
	for _, one := range facts {
		at := timestamppb.New(one.At)
		switch {
		case strings.HasPrefix(one.Topic, me):
			r.News = append(r.News, &feedv1.News{Channel: one.Topic, Type: one.Type, At: at, Data: one.Data})
		case one.Type == viewers:
			r.News = append(r.News, &feedv1.News{Channel: one.Topic, Type: one.Type, Subject: one.Handle, At: at, Data: one.Data})
		case one.Type == snapshot:
			r.Copies = keepCopy(r.Copies, one, at)
		case strings.HasPrefix(one.Topic, overlay):
			r.Copies = keepCopy(r.Copies, one, at)
			for _, channel := range [...]string{one.Topic, operated + strings.TrimPrefix(one.Topic, overlay)} {
				r.News = append(r.News, &feedv1.News{Channel: channel, Type: one.Type, At: at, Data: one.Data})
			}
		default:
			r.Facts = append(r.Facts, &feedv1.Fact{
				Id: one.ID, Type: one.Type, At: at, MarketId: one.MarketID, Handle: one.Handle, Topic: one.Topic, Data: one.Data,
			})
		}
	}
	_, err := f.write.Publish(ctx, r)
	return err
}

// TellViewers implements onair.Watcher.
func (f *Feed) TellViewers(ctx context.Context, list []onair.Sample, at time.Time) error {
	ctx, cancel := brief(ctx)
	defer cancel()
	r := &feedv1.PublishRequest{}
	for _, one := range list {
		r.Watching = append(r.Watching, &feedv1.Watching{Handle: string(one.Handle), Viewers: one.Viewers, At: timestamppb.New(at)})
	}
	_, err := f.write.Publish(ctx, r)
	return err
}

// keepCopy keeps the last copy of each channel: what stands behind was written later.
func keepCopy(list []*feedv1.Copy, one outbox.Fact, at *timestamppb.Timestamp) []*feedv1.Copy {
	c := &feedv1.Copy{Channel: one.Topic, At: at, Data: one.Data}
	for i := range list {
		if list[i].GetChannel() == one.Topic {
			list[i] = c
			return list
		}
	}
	return append(list, c)
}

// Newest implements feed.Reader.
func (f *Feed) Newest(ctx context.Context, q feed.Query) (feed.Page, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := f.read.ListEvents(ctx, &feedv1.ListEventsRequest{Types: q.Types, Lane: string(q.Lane), Limit: int32(q.Limit), Before: q.Before, Topic: q.Topic})
	if err != nil {
		return feed.Page{}, err
	}
	out := feed.Page{Head: r.GetHead(), Events: make([]feed.Event, 0, len(r.GetEvents()))}
	for _, e := range r.GetEvents() {
		out.Events = append(out.Events, feed.Event{
			Seq: e.GetSeq(), ID: e.GetId(), Type: e.GetType(), At: at(e.GetAt()), Handle: e.GetHandle(),
			MarketID: syntax.MarketID(e.GetMarketId()), Data: e.GetData(),
		})
	}
	return out, nil
}
