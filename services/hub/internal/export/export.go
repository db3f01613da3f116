package export

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

func statusOf(c *exportv1.Call) protocol.SignalStatus {
	return protocol.SignalStatus(c.GetSignal().GetStatus())
}

// counts reports whether the score of the call is part of the operator's points.
func counts(c *exportv1.Call) bool { return c.GetSignal().GetCounted() }

// onVenue reports whether the market of the call belongs to a venue. Only markets of venues have a closing line.
func onVenue(c *exportv1.Call) bool {
	return !protocol.MarketID(c.GetSignal().GetMarketId()).IsNative()
}

// Scoring reports whether the market of the call is resolved and not disputed, but the call is not scored yet. A large market is
// scored in chunks, so its calls can be in this state for a while.
func Scoring(c *exportv1.Call) bool {
	r := c.GetResolution()
	return r != nil && !r.GetDisputed() && statusOf(c) == protocol.Pending
}
