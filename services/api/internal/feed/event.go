package feed

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Type is the type of an event, for example "signal.created".
type Type string

// Types of numbered events. Events of these types are stored, and clients can request them again.
const (
	SignalCreated        Type = "signal.created"
	SignalEvent          Type = "signal.event"
	SignalResolved       Type = "signal.resolved"
	MarketStatus         Type = "market.status"
	MarketResolved       Type = "market.resolved"
	MarketDisputed       Type = "market.disputed"
	MarketDisputeCleared Type = "market.dispute_cleared"
	MomentMinted         Type = "moment.minted"
	StreamBound          Type = "stream.bound"
	StreamUnbound        Type = "stream.unbound"
	OperatorLive         Type = "operator.live"
	OperatorOffline      Type = "operator.offline"
	ClipReady            Type = "clip.ready"
	SegmentStarted       Type = "segment.started"
	SegmentPreempted     Type = "segment.preempted"
)

// Types lists the types of numbered events.
var Types = [...]Type{
	SignalCreated, SignalEvent, SignalResolved,
	MarketStatus, MarketResolved, MarketDisputed, MarketDisputeCleared,
	MomentMinted, StreamBound, StreamUnbound, OperatorLive, OperatorOffline, ClipReady,
	SegmentStarted, SegmentPreempted,
}

// ParseType returns the type of numbered events with exactly this name, and false for another name.
func ParseType(s string) (Type, bool) {
	return Type(s), slices.Contains(Types[:], Type(s))
}

// Types of events without a number. Events of these types are not stored, and only the newest event of each subject matters.
const (
	PriceTick        Type = "price.tick"
	CrowdUpdated     Type = "crowd.updated"
	ViewersUpdated   Type = "viewers.updated"
	OverlayUpdated   Type = "overlay.updated"
	WireMove         Type = "wire.move"
	SituationUpdated Type = "situation.updated"
	PulseUpdated     Type = "pulse.updated"
	FollowCreated    Type = "follow.created"
	KeyRevoked       Type = "key.revoked"
	PayoutChanged    Type = "payout.changed"
	Notified         Type = "notification.created"
)

// ephemeralTypes lists the types of events without a number.
var ephemeralTypes = [...]Type{
	PriceTick, CrowdUpdated, ViewersUpdated, OverlayUpdated, WireMove, SituationUpdated, PulseUpdated, FollowCreated, KeyRevoked,
	PayoutChanged, Notified,
}

// Ephemeral reports whether events of the type have no number.
func (t Type) Ephemeral() bool { return slices.Contains(ephemeralTypes[:], t) }

// Event is one numbered event. Members that do not apply to its type are empty.
type Event struct {
	Seq      int64
	ID       string // UUIDv7
	Type     Type
	At       time.Time
	MarketID string
	Provider string
	Lane     string
	Handle   string
	PublicID string
	Operator string // id of the operator; empty: none
	Topic    string // channel of a programme, for segment events
	Data     []byte // JSON object
}

// MarketState is the current price and crowd of a market. Prices are in bps, and nil if unknown.
type MarketState struct {
	MarketID string
	Lane     protocol.Lane
	Yes      *int  // price of YES, as pages show it
	YesPrice *int  // price at which the venue sells YES
	NoPrice  *int  // price at which the venue sells NO
	CrowdYes int64 // number of operators of the crowd who call YES
	CrowdNo  int64
}

// SamePrices reports whether the prices of two states are equal.
func (s *MarketState) SamePrices(o *MarketState) bool {
	same := func(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
	return same(s.Yes, o.Yes) && same(s.YesPrice, o.YesPrice) && same(s.NoPrice, o.NoPrice)
}

// Link is one channel of an event, with the number of the previous event on that channel.
type Link struct {
	Channel Channel
	Prev    int64 // number of the previous event; 0: the event is the first
}

// Message contains the members of an event that a websocket frame needs, and the links of the event.
type Message struct {
	ID    string
	Seq   int64
	Type  Type
	At    time.Time
	Data  []byte
	Links []Link
}

// Ephemeral is an event without a number. It can be lost. A newer event with the same channel, type and subject replaces it.
type Ephemeral struct {
	Channel Channel
	Type    Type
	Subject string // what the event is about, for example a market id; may be empty
	At      time.Time
	Data    []byte // JSON object
}

// Query selects a page of the feed. An empty member does not filter.
type Query struct {
	Types     []Type
	Lane      string
	Providers []string
	Handle    string
	Operators []string // ids; filters types only, newest first
	Topic     string   // channel of a programme; filters segment events only
	Limit     int
	Forward   bool  // true: oldest first, numbers above From; false: newest first, numbers below From
	From      int64 // if 0 and not Forward: from the newest event
}

// Page is the result of a Query. More reports whether events may follow after Next in the same direction. A page can have fewer
// events than its limit although More is true, because one query reads a limited range of numbers.
type Page struct {
	Events []Event
	More   bool
	Next   int64 // value of Query.From for the next page

	// Head is the newest event number. Oldest is the oldest stored number if events after From were deleted, else 0. Both are 0
	// unless Query.Forward is true.
	Head, Oldest int64
}

// Drained is the result of Store.DrainFeed: one step that assigns numbers to the results of a resolved market.
type Drained struct {
	MarketID string // empty: no other market has results without a number
	Numbered int    // number of events that were created: results and moments
	Ended    bool   // all results of the market have numbers
	Blocked  bool   // the next call of the market has no result yet
}
