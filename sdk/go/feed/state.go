package feed

import "time"

// Phase is the kind of change that a Client reports to Options.OnState.
type Phase string

// Phases that a Client reports.
const (
	Connecting   Phase = "connecting"   // the client opens a connection
	Live         Phase = "live"         // all channels are subscribed
	Reconnecting Phase = "reconnecting" // the connection is lost, and the client waits before it reconnects
	Hole         Phase = "hole"         // events of a channel are missing, and the client requests them again
	Repaired     Phase = "repaired"     // the missing events of a channel have arrived
	Closed       Phase = "closed"       // the client has ended
)

// State describes a change of a Client. OnState receives it. Channel, After and Seq are set for Hole and Repaired: the events
// after number After are missing, and Seq is the event with which the client detected this.
type State struct {
	Phase   Phase
	Channel string
	After   int64
	Seq     int64
	Wait    time.Duration // time until the next connection attempt
	Err     error         // the reason why the connection or the client ended
}

// Stats contains the counters of a Client since Open, for logs and metrics.
type Stats struct {
	Connections int64 // connections on which the server sent hello
	Holes       int64 // times that events of a channel were missing
	Repaired    int64 // holes whose events arrived after a new request
	Lost        int64 // holes that the server did not fill; each is delivered as a Gap
	Repeats     int64 // repeated events that were not delivered
	Head        int64 // newest number of the whole feed that the server has sent
}
