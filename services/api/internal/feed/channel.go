package feed

import (
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Channel is a subscription topic in its one spelling.
type Channel string

// The fixed channels and the prefixes of the others.
const (
	Signals     Channel = "signals"
	Resolutions Channel = "resolutions"

	lanePrefix     = "signals:lane:"
	marketPrefix   = "market:"
	operatorPrefix = "operator:"
)

// MarketChannel is the channel of one market.
func MarketChannel(id string) Channel { return Channel(marketPrefix + id) }

// OperatorChannel is the channel of one operator.
func OperatorChannel(handle string) Channel { return Channel(operatorPrefix + handle) }

// LaneChannel is the channel of the signals of one lane.
func LaneChannel(lane string) Channel { return Channel(lanePrefix + lane) }

// ParseChannel reads a channel as a client spells it. Handles are folded to
// lower case; everything else is exact.
func ParseChannel(s string) (Channel, bool) {
	switch c := Channel(s); c {
	case Signals, Resolutions:
		return c, true
	}
	if lane, ok := strings.CutPrefix(s, lanePrefix); ok {
		l, known := syntax.ParseLane(lane)
		return LaneChannel(lane), known && l.Filterable()
	}
	if id, ok := strings.CutPrefix(s, marketPrefix); ok {
		_, err := syntax.ParseMarketID(id)
		return MarketChannel(id), err == nil
	}
	if handle, ok := strings.CutPrefix(s, operatorPrefix); ok {
		h, err := syntax.ParseHandle(handle)
		return OperatorChannel(h.String()), err == nil
	}
	return "", false
}

// MarketID is the market of a market channel; empty for the others.
func (c Channel) MarketID() string { return c.after(marketPrefix) }

// Handle is the operator of an operator channel; empty for the others.
func (c Channel) Handle() string { return c.after(operatorPrefix) }

// Lane is the lane of a lane channel; empty for the others.
func (c Channel) Lane() string { return c.after(lanePrefix) }

func (c Channel) after(prefix string) string {
	rest, ok := strings.CutPrefix(string(c), prefix)
	if !ok {
		return ""
	}
	return rest
}

var (
	signalTypes     = []Type{SignalCreated, SignalEvent, SignalResolved}
	operatorTypes   = []Type{SignalCreated, SignalResolved}
	resolutionTypes = []Type{MarketResolved, MarketDisputed, MarketDisputeCleared}
)

// Types lists the numbered types that travel on a channel; the caller must not
// change the list.
func (c Channel) Types() []Type {
	switch {
	case c == Signals, c.Lane() != "":
		return signalTypes
	case c == Resolutions:
		return resolutionTypes
	case c.Handle() != "":
		return operatorTypes
	case c.MarketID() != "":
		return Types[:]
	}
	return nil
}

// Channels lists the channels of an event. An event is on channel c exactly if
// its type is one of c.Types() and it has c's market, lane or operator.
func (e *Event) Channels() []Channel {
	out := make([]Channel, 0, 4)
	signal := slices.Contains(signalTypes, e.Type)
	if signal {
		out = append(out, Signals)
		if syntax.Lane(e.Lane).Filterable() {
			out = append(out, LaneChannel(e.Lane))
		}
	}
	if e.MarketID != "" {
		out = append(out, MarketChannel(e.MarketID))
	}
	if e.Handle != "" && slices.Contains(operatorTypes, e.Type) {
		out = append(out, OperatorChannel(e.Handle))
	}
	if slices.Contains(resolutionTypes, e.Type) {
		out = append(out, Resolutions)
	}
	return out
}
