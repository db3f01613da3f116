package feed

import (
	"slices"
	"time"
)

// Type names what happened.
type Type string

// The event types that are numbered.
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

// ParseType reads a numbered event type exactly.
func ParseType(s string) (Type, bool) {
	return Type(s), slices.Contains(Types[:], Type(s))
}

// The event types that carry no number: the newest one wins.
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

// passing lists them.
var passing = [...]Type{
	PriceTick, CrowdUpdated, ViewersUpdated, OverlayUpdated, WireMove, SituationUpdated, PulseUpdated, FollowCreated, KeyRevoked,
	PayoutChanged,
}

// Passing tells whether events of the type carry no number.
func (t Type) Passing() bool { return slices.Contains(passing[:], t) }

// Event is one numbered fact. Members that do not apply are empty.
type Event struct {
	Seq      int64
	ID       string // uuid v7
	Type     Type
	At       time.Time
	MarketID string
	Provider string
	Lane     string
	Handle   string
	PublicID string
	Topic    string // the programme channel that the event belongs to, if any
	Data     []byte // JSON object
}

// Standing is where a market stands. Yes is nil without a price.
type Standing struct {
	MarketID string
	Yes      *int  // bps
	CrowdYes int64 // operators that count as crowd
	CrowdNo  int64
}

// Link is the place of an event on one of its channels.
type Link struct {
	Channel Channel
	Prev    int64 // number of the event before it on the channel; 0: none
}

// Message is an event as it travels: what a frame needs and nothing else.
type Message struct {
	ID    string
	Seq   int64
	Type  Type
	At    time.Time
	Data  []byte
	Links []Link
}

// Ephemeral is news without a number. It may be lost; the newest of a channel,
// type and subject replaces those before it.
type Ephemeral struct {
	Channel Channel
	Type    Type
	Subject string // what it is about, where a channel tells of several
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
	Numbered int    // events: results and their moments
	Ended    bool   // nothing of the market is left
	Blocked  bool   // the next signal has no result yet
}
