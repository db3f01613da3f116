package message

import "strings"

// Type is the type of a protocol message. It determines the payload.
type Type string

// Types of protocol messages.
const (
	ProfileUpdate    Type = "profile.update"
	StationCreate    Type = "station.create"
	StationUpdate    Type = "station.update"
	BroadcastCreate  Type = "broadcast.create"
	BroadcastGoLive  Type = "broadcast.goLive"
	SignalCreate     Type = "signal.create"
	PredictionCreate Type = "prediction.create"
	MarketCreate     Type = "market.create"
	ResolutionCreate Type = "resolution.create"
)

// Types lists all message types in the order in which the protocol defines them.
var Types = [...]Type{
	ProfileUpdate, StationCreate, StationUpdate, BroadcastCreate, BroadcastGoLive,
	SignalCreate, PredictionCreate, MarketCreate, ResolutionCreate,
}

// ParseType returns the message type with this exact name. It returns false for an unknown name.
func ParseType(s string) (Type, bool) {
	for _, t := range Types {
		if string(t) == s {
			return t, true
		}
	}
	return "", false
}

// Scope returns the scope that a signer needs for messages of the type: the type with a colon in place of the dot.
func (t Type) Scope() string { return strings.Replace(string(t), ".", ":", 1) }

// scoped reports whether scope is the scope of a message type.
func scoped(scope string) bool {
	for _, t := range Types {
		if t.Scope() == scope {
			return true
		}
	}
	return false
}
