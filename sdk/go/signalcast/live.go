package signalcast

import (
	"context"
	"slices"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// Live manages live sessions, the streams of markets, and the overlays of operators.
type Live struct{ c *Client }

// Beat opens or extends a live session. Send it every 15 seconds. A beat with the state offline ends the session.
func (l Live) Beat(ctx context.Context, beat client.HeartbeatSend) (client.Heartbeat, error) {
	return read[client.Heartbeat](l.c.Hub.SendHeartbeat(ctx, beat))
}

// List returns the operators that have a live session.
func (l Live) List(ctx context.Context) (client.LiveList, error) {
	return read[client.LiveList](l.c.Hub.ListLive(ctx))
}

// SetSignal sets the market that the operator's overlay shows. It replaces an earlier market.
func (l Live) SetSignal(ctx context.Context, write client.OverlayWrite) (client.OverlaySet, error) {
	return read[client.OverlaySet](l.c.Hub.SetOverlaySignal(ctx, write))
}

// ClearSignal removes the market from the overlay of the operator.
func (l Live) ClearSignal(ctx context.Context) (client.OverlayCleared, error) {
	return read[client.OverlayCleared](l.c.Hub.ClearOverlaySignal(ctx))
}

// Signal returns the market that the overlay of an operator shows.
func (l Live) Signal(ctx context.Context, handle string) (client.OverlayRead, error) {
	return read[client.OverlayRead](l.c.Hub.GetOverlaySignal(ctx, &client.GetOverlaySignalParams{Handle: handle}))
}

// Bind connects the stream of the operator to a market. It replaces an earlier connection to this market.
func (l Live) Bind(ctx context.Context, market string, stream client.StreamBind) (client.StreamBound, error) {
	return read[client.StreamBound](l.c.Hub.BindStream(ctx, market, stream))
}

// Unbind disconnects the stream of the operator from a market. The client does not retry the request, because the response to a
// repeated request would differ.
func (l Live) Unbind(ctx context.Context, market string) (client.Removed, error) {
	return read[client.Removed](l.c.Hub.UnbindStream(ctx, market))
}

// Streams returns the streams that operators have connected to a market.
func (l Live) Streams(ctx context.Context, market string) (client.MarketStreams, error) {
	return read[client.MarketStreams](l.c.Hub.ListMarketStreams(ctx, market))
}

// Feed opens the live feed. If o has no URL, it uses the URL of the api. If o has no key and contains the channel `me`, it uses
// the credential of the client.
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
