package feed

import (
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Channel is the canonical name of a channel, for example "market:<market id>". ParseChannel converts other spellings to it.
type Channel string

// Names of channels without a parameter, and prefixes of the names of channels with a parameter, for example a market id.
const (
	Signals     Channel = "signals"
	Resolutions Channel = "resolutions"
	Live        Channel = "live"
	Wire        Channel = "wire"
	Pulse       Channel = "pulse"
	Prices      Channel = "prices" // prices of all markets
	// Me is the name by which a client subscribes to the private channel of its operator. MeChannel returns the canonical name.
	Me Channel = "me"

	lanePrefix     = "signals:lane:"
	pricesPrefix   = "prices:"
	marketPrefix   = "market:"
	operatorPrefix = "operator:"
	overlayPrefix  = "overlay:"
	programPrefix  = "program:"
	mePrefix       = "me:"
)

// Presets contains the names of the programmes that have a channel.
var Presets = [...]string{"default", "hot", "resolving", "close"}

// MarketChannel returns the channel of the market with this id.
func MarketChannel(id string) Channel { return Channel(marketPrefix + id) }

// OperatorChannel returns the public channel of an operator.
func OperatorChannel(handle string) Channel { return Channel(operatorPrefix + handle) }

// OverlayChannel returns the channel of an operator's stream overlay.
func OverlayChannel(handle string) Channel { return Channel(overlayPrefix + handle) }

// MeChannel returns the private channel of an operator. A subscription to it requires a key of the operator.
func MeChannel(handle string) Channel { return Channel(mePrefix + handle) }

// stationPrefix is the prefix of the name under which the programme of a station is stored. Clients cannot subscribe to this
// name; an HTTP route returns the programme.
const stationPrefix = "station:"

// StationChannel returns the name under which the programme of a station is stored as a Copy.
func StationChannel(id string) Channel { return Channel(stationPrefix + id) }

// LaneChannel returns the channel of the calls on markets of one lane.
func LaneChannel(lane string) Channel { return Channel(lanePrefix + lane) }

// PricesChannel returns the channel of the prices of markets of one lane.
func PricesChannel(lane protocol.Lane) Channel { return pricesPrefix + Channel(lane) }

// ParseChannel returns the channel with a name from a client, and false for an unknown name. Handles are converted to lower
// case; everything else must match exactly.
func ParseChannel(s string) (Channel, bool) {
	switch c := Channel(s); c {
	case Signals, Resolutions, Live, Wire, Pulse, Prices, Me:
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
	case pricesPrefix:
		return Channel(s), isLane(rest)
	}
	if lane, ok := strings.CutPrefix(s, lanePrefix); ok {
		return LaneChannel(lane), isLane(lane)
	}
	return "", false
}

// KnownChannel returns the channel with a canonical name from another service or process, and false for an unknown name. Unlike
// ParseChannel, it accepts private channels and names of StationChannel, but not Me.
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

// Shown returns the channel name that clients see: Me for a private channel, else the canonical name.
func (c Channel) Shown() string {
	if c.Owner() != "" {
		return string(Me)
	}
	return string(c)
}

// MarketID returns the market id of a MarketChannel, else an empty string.
func (c Channel) MarketID() string { return c.after(marketPrefix) }

// Handle returns the handle of an OperatorChannel, else an empty string.
func (c Channel) Handle() string { return c.after(operatorPrefix) }

// Owner returns the handle of the operator of a private channel (MeChannel), else an empty string.
func (c Channel) Owner() string { return c.after(mePrefix) }

// Lane returns the lane of a LaneChannel, else an empty string.
func (c Channel) Lane() string { return c.after(lanePrefix) }

// HasPrices reports whether the channel is Prices or a PricesChannel.
func (c Channel) HasPrices() bool { return c == Prices || c.after(pricesPrefix) != "" }

// Topic returns the name of the channel if it is the channel of a programme, else an empty string.
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

// Types returns the types of the numbered events on a channel, or nil if it has none. The caller must not change the list.
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

// Channels returns the channels of an event. An event is on channel c if its type is in c.Types(), and if it has the market,
// lane, operator or topic of c.
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
