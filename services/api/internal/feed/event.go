package feed

import (
	"slices"
	"time"
)

// Type is the type of an event.
type Type string

// Event types with a number.
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

// Types lists the numbered event types.
var Types = [...]Type{
	SignalCreated, SignalEvent, SignalResolved,
	MarketStatus, MarketResolved, MarketDisputed, MarketDisputeCleared,
	MomentMinted, StreamBound, StreamUnbound, OperatorLive, OperatorOffline, ClipReady,
	SegmentStarted, SegmentPreempted,
}

// ParseType returns the numbered event type with exactly this name.
func ParseType(s string) (Type, bool) {
	return Type(s), slices.Contains(Types[:], Type(s))
}

// Event types without a number. Only the newest event of a subject matters.
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
)

// ephemeralTypes lists the event types without a number.
var ephemeralTypes = [...]Type{
	PriceTick, CrowdUpdated, ViewersUpdated, OverlayUpdated, WireMove, SituationUpdated, PulseUpdated, FollowCreated, KeyRevoked,
	PayoutChanged,
}

// Ephemeral reports whether events of the type have no number.
func (t Type) Ephemeral() bool { return slices.Contains(ephemeralTypes[:], t) }

// Event is one numbered event. Members that do not apply are empty.
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
	Topic    string // channel of a programme, for segment events
	Data     []byte // JSON object
}

// MarketState is the current price and crowd of a market. Yes is nil without a price.
type MarketState struct {
	MarketID string
	Yes      *int  // bps
	CrowdYes int64 // number of operators in the crowd who call YES
	CrowdNo  int64
}

// Link is a channel of an event, with the previous event on it.
type Link struct {
	Channel Channel
	Prev    int64 // number of the previous event on the channel; 0: none
}

// Message is the part of an event that a frame needs, with its links.
type Message struct {
	ID    string
	Seq   int64
	Type  Type
	At    time.Time
	Data  []byte
	Links []Link
}

// Ephemeral is an event without a number. It may be lost. A newer event with the same channel, type and subject replaces it.
type Ephemeral struct {
	Channel Channel
	Type    Type
	Subject string // distinguishes the subjects of one channel, for example markets
	At      time.Time
	Data    []byte // JSON object
}

// Query selects a page of the feed. Empty members do not filter.
type Query struct {
	Types     []Type
	Lane      string
	Providers []string
	Handle    string
	Topic     string // of segment events, only those of this channel of a programme
	Limit     int
	Forward   bool  // oldest first, numbers above From; else newest first, numbers below From
	From      int64 // 0 with Forward false: from the newest
}

// Page is the answer to a Query. More reports whether events may follow after Next in the same direction. A page that is
// shorter than its limit may have More, because one query reads a bounded number of events.
type Page struct {
	Events []Event
	More   bool
	Next   int64 // the From of the next page

	// Of a forward page: the newest number, and the oldest stored number if numbers after From are deleted; else 0.
	Head, Oldest int64
}

// Drained is the result of one step that numbers the results of a market.
type Drained struct {
	MarketID string // empty: no market waits
	Numbered int    // number of events: results and moments
	Ended    bool   // all results of the market are numbered
	Blocked  bool   // the next signal has no result yet
}
