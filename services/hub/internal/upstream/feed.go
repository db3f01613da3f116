package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// Feed sends events to the event feed of the ledger after the hub has committed them.
type Feed struct{ Ledger feedv1.FeedServiceClient }

// Prefixes of the names of channels that belong to one operator. The rest of the name identifies the operator.
const (
	me       = "me:"
	overlay  = "overlay:"
	operated = "operator:"
)

const (
	snapshot = "snapshot"        // type of a fact that changes only the snapshot of a channel
	viewers  = "viewers.updated" // type of a change of an operator's number of viewers in the live list
	watched  = "viewers.watched" // type of a report of the time for which viewers watched an operator
)

// Publish sends facts to the ledger. It sends viewer numbers, and facts of an operator's private channel, as news, which the
// ledger does not number. It sends watched time as reports of viewers. It sends snapshots of channels as copies, and an overlay signal as news and as a copy. The ledger
// numbers all other facts. Publish returns the errors of the ledger.
func (f Feed) Publish(ctx context.Context, facts []outbox.Fact) error {
	r := &feedv1.PublishRequest{}
	for _, one := range facts {
		at := timestamppb.New(one.At)
		switch {
		case strings.HasPrefix(one.Topic, me):
			r.News = append(r.News, &feedv1.News{Channel: one.Topic, Type: one.Type, At: at, Data: one.Data})
		case one.Type == viewers:
			r.News = append(r.News, &feedv1.News{Channel: one.Topic, Type: one.Type, Subject: one.Handle, At: at, Data: one.Data})
		case one.Type == watched:
			var data struct{ ViewerSeconds int64 }
			if err := json.Unmarshal([]byte(one.Data), &data); err != nil {
				return fmt.Errorf("report of watched time %s: %w", one.ID, err)
			}
			r.ViewerReports = append(r.ViewerReports, &feedv1.ViewerReport{
				Id: one.ID, Handle: one.Handle, At: at, ViewerSeconds: data.ViewerSeconds,
			})
		case one.Type == snapshot:
			r.Copies = replaceCopy(r.Copies, one, at)
		case strings.HasPrefix(one.Topic, overlay):
			r.Copies = replaceCopy(r.Copies, one, at)
			for _, channel := range [...]string{one.Topic, operated + strings.TrimPrefix(one.Topic, overlay)} {
				r.News = append(r.News, &feedv1.News{Channel: channel, Type: one.Type, At: at, Data: one.Data})
			}
		default:
			r.Facts = append(r.Facts, &feedv1.Fact{
				Id: one.ID, Type: one.Type, At: at, MarketId: one.MarketID, Handle: one.Handle, Topic: one.Topic, Data: one.Data,
			})
		}
	}
	_, err := f.Ledger.Publish(ctx, r)
	return err
}

// replaceCopy adds the copy of a fact to list. It replaces an earlier copy of the same channel.
func replaceCopy(list []*feedv1.Copy, one outbox.Fact, at *timestamppb.Timestamp) []*feedv1.Copy {
	c := &feedv1.Copy{Channel: one.Topic, At: at, Data: one.Data}
	for i := range list {
		if list[i].GetChannel() == one.Topic {
			list[i] = c
			return list
		}
	}
	return append(list, c)
}
