package signal

import (
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
)

// EventType is what an event says.
type EventType string

// The event types. Resolved is the resolver's alone.
const (
	Take       EventType = "take"
	Reaffirm   EventType = "reaffirm"
	Confidence EventType = "confidence"
	Note       EventType = "note"
	Share      EventType = "share"
	Resolved   EventType = "resolved"
)

// ParseEventType reads what a client may append; resolved is refused.
func ParseEventType(raw string) (EventType, bool) {
	switch t := EventType(raw); t {
	case Take, Reaffirm, Confidence, Note, Share:
		return t, true
	}
	return "", false
}

// Bounds of event payloads, in characters.
const (
	MaxEventText    = 500
	MaxEventURL     = 500
	MaxEventChannel = 40
)

// ErrPayload refuses a payload that does not fit its type.
var ErrPayload = fault.New(fault.Invalid, "invalid_payload", "").With("field", "payload")

// Event is one entry of a signal's history.
type Event struct {
	ID        string
	Type      EventType
	Payload   []byte // a JSON object
	Actor     *string
	CreatedAt time.Time
}

// EventDraft is what the owner wants to append.
type EventDraft struct {
	ID       string // uuid v7 made here
	SignalID string
	Type     EventType
	Payload  []byte // a JSON object of the members that the type knows
}
