package message

import "strings"

// Type is what a message does.
type Type string

// The message types.
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

// Types lists the message types in the order of the protocol.
var Types = [...]Type{
	ProfileUpdate, StationCreate, StationUpdate, BroadcastCreate, BroadcastGoLive,
	SignalCreate, PredictionCreate, MarketCreate, ResolutionCreate,
}

// ParseType reads a message type exactly.
func ParseType(s string) (Type, bool) {
	for _, t := range Types {
		if string(t) == s {
			return t, true
		}
	}
	return "", false
}

// Scope is the permission that the type needs: the type with a colon.
func (t Type) Scope() string { return strings.Replace(string(t), ".", ":", 1) }

// scoped reports a scope that a signer can hold: that of a message type.
func scoped(scope string) bool {
	for _, t := range Types {
		if t.Scope() == scope {
			return true
		}
	}
	return false
}
