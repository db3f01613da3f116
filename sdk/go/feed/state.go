package feed

import "time"

// Phase is how a client stands.
type Phase string

// The phases.
const (
	Connecting   Phase = "connecting"
	Live         Phase = "live"         // subscribed, and nothing is missing that it knows of
	Reconnecting Phase = "reconnecting" // waits before it comes back
	Hole         Phase = "hole"         // events were missing and are asked for again
	Repaired     Phase = "repaired"     // they came
	Closed       Phase = "closed"
)

// State is the argument of OnState, which is called in the order of the changes. Channel, After and Seq describe a hole: events
// after After are missing, and Seq is the event that showed it.
type State struct {
	Phase   Phase
	Channel string
	After   int64
	Seq     int64
	Wait    time.Duration // until it comes back
	Err     error         // why the connection ended
}

// Stats counts the events of a client since Open.
type Stats struct {
	Connections int64 // that the server greeted
	Holes       int64 // events that were seen to be missing
	Repaired    int64 // holes that were filled
	Lost        int64 // holes that the server could not fill; each is a Gap
	Repeats     int64 // events that came again and were not handed on
	Head        int64 // newest number of the whole feed that the server has sent
}
