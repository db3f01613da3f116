package export

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

func statusOf(c *exportv1.Call) protocol.SignalStatus {
	return protocol.SignalStatus(c.GetSignal().GetStatus())
}

// counts reports whether the call is part of points.
func counts(c *exportv1.Call) bool { return c.GetSignal().GetCounted() }

// onVenue reports whether the market is one of a venue, which has a closing line.
func onVenue(c *exportv1.Call) bool {
	return !protocol.MarketID(c.GetSignal().GetMarketId()).IsNative()
}

// Scoring reports whether the outcome is claimed and the call has no result yet: a large
// claim is scored in chunks.
func Scoring(c *exportv1.Call) bool {
	r := c.GetResolution()
	return r != nil && !r.GetDisputed() && statusOf(c) == protocol.Pending
}
