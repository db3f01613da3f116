package upstream

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

// Feed sends the facts of the outbox to the ledger after the hub has committed them.
type Feed struct {
	Ledger    feedv1.FeedServiceClient
	Operators operatorv1.OperatorServiceClient
	Handles   operatorv1.OperatorReadServiceClient
}

// Types of facts about access tokens of apps. They are not events: the ledger stores them to accept the tokens on public reads.
// The topic is the hexadecimal hash of the token, and the data is the id of the grant.
const (
	tokenIssued  = "token.issued" // at is the expiry
	tokenRevoked = "token.revoked"
	grantRevoked = "grant.revoked" // without a topic
)

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
	// notified is the type of a fact about new notifications of one kind. The data has the id of each notification by the id of its user.
	notified = "notification.created"
)

// maxNews is the maximum number of events without a number in one request to the ledger.
const maxNews = 500

// Publish sends facts to the ledger. It sends viewer numbers, and facts of an operator's private channel, as news, which the
// ledger does not number. It sends watched time as reports of viewers. It sends snapshots of channels as copies, and an overlay
// signal as news and as a copy. The ledger numbers all other facts. Facts about access tokens are not sent to the feed. Each new
// notification is news of the private channel of its user. Publish returns the errors of the ledger.
func (f Feed) Publish(ctx context.Context, facts []outbox.Fact) error {
	r, tokens := &feedv1.PublishRequest{}, &operatorv1.StoreAppTokensRequest{}
	var notices []notice
	for _, one := range facts {
		at := timestamppb.New(one.At)
		switch {
		case one.Type == notified:
			list, err := noticesOf(one)
			if err != nil {
				return err
			}
			notices = append(notices, list...)
		case one.Type == tokenIssued, one.Type == tokenRevoked, one.Type == grantRevoked:
			tokens.Tokens = append(tokens.Tokens, tokenOf(one))
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
	if len(tokens.GetTokens()) > 0 {
		if _, err := f.Operators.StoreAppTokens(ctx, tokens); err != nil {
			return err
		}
	}
	if proto.Size(r) > 0 {
		if _, err := f.Ledger.Publish(ctx, r); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(notices, maxNews) {
		if err := f.publishNotices(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// notice is a new notification of a user.
type notice struct {
	user string
	news *feedv1.News
}

// noticesOf returns the notices of a fact with the type notified, without the names of the channels.
func noticesOf(f outbox.Fact) ([]notice, error) {
	var data struct {
		Kind string
		IDs  map[string]string
	}
	if err := json.Unmarshal([]byte(f.Data), &data); err != nil {
		return nil, fmt.Errorf("notifications %s: %w", f.ID, err)
	}
	list := make([]notice, 0, len(data.IDs))
	for user, id := range data.IDs {
		list = append(list, notice{user: user, news: &feedv1.News{
			Type: f.Type, Subject: id, At: timestamppb.New(f.At), Data: fmt.Sprintf(`{"id":%q,"kind":%q}`, id, data.Kind),
		}})
	}
	return list, nil
}

// publishNotices sends each notice to the private channel of its user. It first reads the handles of the users, because the name of the
// channel contains the current handle.
func (f Feed) publishNotices(ctx context.Context, list []notice) error {
	q := &operatorv1.ListOperatorsRequest{}
	for _, one := range list {
		q.Ids = append(q.Ids, one.user)
	}
	slices.Sort(q.Ids)
	q.Ids = slices.Compact(q.Ids)
	found, err := f.Handles.ListOperators(ctx, q)
	if err != nil {
		return err
	}
	handles := map[string]string{}
	for _, o := range found.GetOperators() {
		handles[o.GetId()] = o.GetHandle()
	}
	r := &feedv1.PublishRequest{}
	for _, one := range list {
		if handle := handles[one.user]; handle != "" {
			one.news.Channel = me + handle
			r.News = append(r.News, one.news)
		}
	}
	_, err = f.Ledger.Publish(ctx, r)
	return err
}

// StoreToken sends one access token of an app to the ledger, so that the ledger accepts it at once. hash is the token's SHA-256
// hash.
func (f Feed) StoreToken(ctx context.Context, hash []byte, grantID string, expiresAt time.Time) error {
	_, err := f.Operators.StoreAppTokens(ctx, &operatorv1.StoreAppTokensRequest{Tokens: []*operatorv1.AppToken{
		{Hash: hash, GrantId: grantID, ExpiresAt: timestamppb.New(expiresAt)},
	}})
	return err
}

// tokenOf returns the message of a fact about access tokens.
func tokenOf(f outbox.Fact) *operatorv1.AppToken {
	hash, _ := hex.DecodeString(f.Topic) // written by the hub
	t := &operatorv1.AppToken{Hash: hash, GrantId: f.Data}
	if f.Type == tokenIssued {
		t.ExpiresAt = timestamppb.New(f.At)
	} else {
		t.RevokedAt = timestamppb.New(f.At)
	}
	return t
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
