package signalcast

import (
	"context"
	"slices"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// Live is being on the air: sessions, streams of markets, the signal over a picture.
type Live struct{ c *Client }

// Beat opens a session or keeps it: to be sent every 15 seconds. State offline ends it.
func (l Live) Beat(ctx context.Context, beat client.HeartbeatSend) (client.Heartbeat, error) {
	return read[client.Heartbeat](l.c.Hub.SendHeartbeat(ctx, beat))
}

// List reads who is live.
func (l Live) List(ctx context.Context) (client.LiveList, error) {
	return read[client.LiveList](l.c.Hub.ListLive(ctx))
}

// SetSignal puts a signal over the operator's picture, in place of the one before.
func (l Live) SetSignal(ctx context.Context, write client.OverlayWrite) (client.OverlaySet, error) {
	return read[client.OverlaySet](l.c.Hub.SetOverlaySignal(ctx, write))
}

// ClearSignal takes it away.
func (l Live) ClearSignal(ctx context.Context) (client.OverlayCleared, error) {
	return read[client.OverlayCleared](l.c.Hub.ClearOverlaySignal(ctx))
}

// Signal reads what is over an operator's picture.
func (l Live) Signal(ctx context.Context, handle string) (client.OverlayRead, error) {
	return read[client.OverlayRead](l.c.Hub.GetOverlaySignal(ctx, &client.GetOverlaySignalParams{Handle: handle}))
}

// Bind binds the operator's picture to a market, in place of the one before.
func (l Live) Bind(ctx context.Context, market string, stream client.StreamBind) (client.StreamBound, error) {
	return read[client.StreamBound](l.c.Hub.BindStream(ctx, market, stream))
}

// Unbind ends the binding. It is never sent twice, since the second answer would be another.
func (l Live) Unbind(ctx context.Context, market string) (client.Removed, error) {
	return read[client.Removed](l.c.Hub.UnbindStream(ctx, market))
}

// Streams reads what is bound to a market.
func (l Live) Streams(ctx context.Context, market string) (client.MarketStreams, error) {
	return read[client.MarketStreams](l.c.Hub.ListMarketStreams(ctx, market))
}

// Feed follows the live feed; what Options leave out, the client adds: the address and,
// for the channel `me`, the credential.
func (l Live) Feed(ctx context.Context, o feed.Options) (*feed.Client, error) {
	if o.URL == "" {
		o.URL = l.c.options.API + "/ws"
	}
	if o.Key == "" && l.c.options.Token != nil && slices.Contains(o.Channels, "me") {
		token, err := l.c.options.Token.Token(ctx)
		if err != nil {
			return nil, err
		}
		o.Key = token
	}
	return feed.Open(ctx, o)
}
