package effect

import (
	"context"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// broadcast stores an announced broadcast and returns its id. The id is derived from the message, so repeated attempts store the
// broadcast once.
func (e *Effects) broadcast(ctx context.Context, a message.Action, p *message.Broadcast) (message.Result, error) {
	b := livestream.Broadcast{ID: broadcastID(a), Owner: a.DenpaID, Title: p.Title, CreatedAt: a.ReceivedAt}
	if p.MarketID != nil {
		if b.MarketID = *p.MarketID; b.MarketID != "" {
			if _, err := e.Ledger.Markets.GetSnapshot(ctx, &marketv1.GetSnapshotRequest{MarketId: string(b.MarketID)}); err != nil {
				return nil, asPayload(err)
			}
		}
	}
	if p.StationID != nil {
		b.StationID = *p.StationID
	}
	if p.Lane != nil {
		b.Lane = *p.Lane
	}
	if p.ScheduledFor != nil {
		b.ScheduledFor = *p.ScheduledFor
	}
	if err := e.Air.Store.Announce(ctx, b); err != nil {
		return nil, asPayload(err)
	}
	return message.Result{"broadcastId": b.ID}, nil
}

// errVideo is the error of a go-live message whose stream URL is not permitted (see stream.Playable).
var errVideo = message.ErrInvalid.With("reason", message.ReasonPayload).With("field", "url").
	WithText("url must be the https URL of an .m3u8 playlist on an allowed video host, without a user name or a fragment")

// goLive opens a live session and returns its id. It returns an error if the sender has not announced the broadcast, or if the
// stream URL is not permitted.
func (e *Effects) goLive(ctx context.Context, a message.Action, p *message.GoLive) (message.Result, error) {
	if !stream.Playable(p.URL, e.Videos) {
		return nil, errVideo
	}
	b, err := e.Air.Announced(ctx, p.BroadcastID, a.DenpaID)
	if err != nil {
		return nil, asPayload(err)
	}
	who, err := operator.Directory{Ledger: e.Ledger.Operators}.ByID(ctx, operator.ID(a.DenpaID))
	if err != nil {
		return nil, asPayload(err)
	}
	g := livestream.GoLive{
		MessageID: string(a.ID), Owner: a.DenpaID, Handle: who.Handle, BroadcastID: p.BroadcastID, MarketID: marketOn(b, p), URL: p.URL,
	}
	if p.Label != nil {
		g.Label = *p.Label
	}
	if g.MarketID != "" {
		if _, err := e.Ledger.Markets.GetSnapshot(ctx, &marketv1.GetSnapshotRequest{MarketId: string(g.MarketID)}); err != nil {
			return nil, asPayload(err)
		}
	}
	showID, err := e.Air.GoLive(ctx, g)
	if err != nil {
		return nil, asPayload(err)
	}
	return message.Result{"showId": showID}, nil
}

// marketOn returns the market of a live session: the market of the go-live message, or else the market of the announcement.
func marketOn(b livestream.Broadcast, p *message.GoLive) protocol.MarketID {
	if p.MarketID != nil {
		return *p.MarketID
	}
	return b.MarketID
}

// broadcastID returns the id of the broadcast that a message announces. It is the same for all attempts.
func broadcastID(a message.Action) string { return idOf("broadcast\n" + string(a.ID)) }
