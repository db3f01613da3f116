package export

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

func statusOf(c *exportv1.Call) protocol.SignalStatus {
	return protocol.SignalStatus(c.GetSignal().GetStatus())
}

// counts reports whether the call counts for points.
func counts(c *exportv1.Call) bool { return c.GetSignal().GetCounted() }

// onVenue reports whether the market belongs to a venue. Only such markets have a closing line.
func onVenue(c *exportv1.Call) bool {
	return !protocol.MarketID(c.GetSignal().GetMarketId()).IsNative()
}

// Scoring reports whether the market is resolved and the call is not scored yet. Large markets are scored in chunks.
func Scoring(c *exportv1.Call) bool {
	r := c.GetResolution()
	return r != nil && !r.GetDisputed() && statusOf(c) == protocol.Pending
}
