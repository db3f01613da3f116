package feed

import (
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Channel is a subscription topic in its one spelling.
type Channel string

// The fixed channels and the prefixes of the others.
const (
	Signals     Channel = "signals"
	Resolutions Channel = "resolutions"
	Live        Channel = "live"
	Wire        Channel = "wire"
	Pulse       Channel = "pulse"
	// Me is how a client asks for its own channel; MeChannel is what it gets.
	Me Channel = "me"

	lanePrefix     = "signals:lane:"
	marketPrefix   = "market:"
	operatorPrefix = "operator:"
	overlayPrefix  = "overlay:"
	programPrefix  = "program:"
	mePrefix       = "me:"
)

// Presets are the programmes that have channels.
var Presets = [...]string{"default", "hot", "resolving", "close"}

// MarketChannel is the channel of one market.
func MarketChannel(id string) Channel { return Channel(marketPrefix + id) }

// OperatorChannel is the channel of one operator.
func OperatorChannel(handle string) Channel { return Channel(operatorPrefix + handle) }

// OverlayChannel is the channel of one operator's overlay.
func OverlayChannel(handle string) Channel { return Channel(overlayPrefix + handle) }

// MeChannel is the channel of what is for one operator alone.
func MeChannel(handle string) Channel { return Channel(mePrefix + handle) }

// stationPrefix names the programme of a station: a copy that is read by its route, and
// nothing that anybody hears.
const stationPrefix = "station:"

// StationChannel names the copy of a station's programme.
func StationChannel(id string) Channel { return Channel(stationPrefix + id) }

// LaneChannel is the channel of the signals of one lane.
func LaneChannel(lane string) Channel { return Channel(lanePrefix + lane) }

// ParseChannel reads a channel as a client spells it. Handles are folded to
// lower case; everything else is exact.
func ParseChannel(s string) (Channel, bool) {
	switch c := Channel(s); c {
	case Signals, Resolutions, Live, Wire, Pulse, Me:
		return c, true
	}
	kind, rest, _ := strings.Cut(s, ":")
	switch kind + ":" {
	case marketPrefix:
		_, err := protocol.ParseMarketID(rest)
		return MarketChannel(rest), err == nil
	case operatorPrefix:
		h, err := protocol.ParseHandle(rest)
		return OperatorChannel(h.String()), err == nil
	case overlayPrefix:
		h, err := protocol.ParseHandle(rest)
		return OverlayChannel(h.String()), err == nil
	case programPrefix:
		preset, lane, some := strings.Cut(rest, ":")
		return Channel(s), slices.Contains(Presets[:], preset) && (!some || isLane(lane))
	}
	if lane, ok := strings.CutPrefix(s, lanePrefix); ok {
		return LaneChannel(lane), isLane(lane)
	}
	return "", false
}

// KnownChannel reads a channel as the services spell it among themselves.
func KnownChannel(s string) (Channel, bool) {
	if rest, ok := strings.CutPrefix(s, mePrefix); ok {
		h, err := protocol.ParseHandle(rest)
		return MeChannel(h.String()), err == nil
	}
	if station, ok := strings.CutPrefix(s, stationPrefix); ok {
		return Channel(s), station != "" && strings.Trim(station, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	}
	c, ok := ParseChannel(s)
	return c, ok && c != Me
}

func isLane(s string) bool {
	l, known := protocol.ParseLane(s)
	return known && l.Filterable()
}

// Shown is the channel as its reader knows it.
func (c Channel) Shown() string {
	if c.Owner() != "" {
		return string(Me)
	}
	return string(c)
}

// MarketID is the market of a market channel; empty for the others.
func (c Channel) MarketID() string { return c.after(marketPrefix) }

// Handle is the operator of an operator channel; empty for the others.
func (c Channel) Handle() string { return c.after(operatorPrefix) }

// Owner is the operator to whom a channel belongs alone; empty for the others.
func (c Channel) Owner() string { return c.after(mePrefix) }

// Lane is the lane of a lane channel; empty for the others.
func (c Channel) Lane() string { return c.after(lanePrefix) }

// Topic is the whole name of a programme channel; empty for the others.
func (c Channel) Topic() string {
	if c.after(programPrefix) == "" {
		return ""
	}
	return string(c)
}

func (c Channel) after(prefix string) string {
	rest, ok := strings.CutPrefix(string(c), prefix)
	if !ok {
		return ""
	}
	return rest
}

var (
	signalTypes     = []Type{SignalCreated, SignalEvent, SignalResolved}
	resolutionTypes = []Type{MarketResolved, MarketDisputed, MarketDisputeCleared}
	marketTypes     = slices.Concat(signalTypes, []Type{MarketStatus}, resolutionTypes, []Type{StreamBound, StreamUnbound})
	liveTypes       = []Type{OperatorLive, OperatorOffline}
	operatorTypes   = slices.Concat([]Type{SignalCreated, SignalResolved, MomentMinted, ClipReady}, liveTypes)
	ownTypes        = slices.Concat(signalTypes, []Type{ClipReady})
	segmentTypes    = []Type{SegmentStarted, SegmentPreempted}
)

// Types lists the numbered types that travel on a channel; the caller must not
// change the list.
func (c Channel) Types() []Type {
	switch {
	case c == Signals, c.Lane() != "":
		return signalTypes
	case c == Resolutions:
		return resolutionTypes
	case c == Live:
		return liveTypes
	case c.Handle() != "":
		return operatorTypes
	case c.Owner() != "":
		return ownTypes
	case c.MarketID() != "":
		return marketTypes
	case c.Topic() != "":
		return segmentTypes
	}
	return nil
}

// Channels lists the channels of an event. An event is on channel c exactly if
// its type is one of c.Types() and it has c's market, lane, operator or topic.
func (e *Event) Channels() []Channel {
	out := make([]Channel, 0, 6)
	on := func(c Channel, owned bool, types []Type) {
		if owned && slices.Contains(types, e.Type) {
			out = append(out, c)
		}
	}
	on(Signals, true, signalTypes)
	on(LaneChannel(e.Lane), protocol.Lane(e.Lane).Filterable(), signalTypes)
	on(MarketChannel(e.MarketID), e.MarketID != "", marketTypes)
	on(OperatorChannel(e.Handle), e.Handle != "", operatorTypes)
	on(MeChannel(e.Handle), e.Handle != "", ownTypes)
	on(Resolutions, true, resolutionTypes)
	on(Live, true, liveTypes)
	on(Channel(e.Topic), e.Topic != "", segmentTypes)
	return out
}
