package feed

import (
	"encoding/json"
	"time"
)

// Message is one of *Event, *Snapshot, *Gap, *Beat and *ServerError.
type Message interface{ message() }

// Event is what happened on a channel. Numbered events come once each and in order;
// the others have Seq 0, may be missed, and the newest of a kind is the one that counts.
type Event struct {
	Channel string
	Seq     int64 // number in the feed
	Prev    int64 // number of the event before it on the channel; 0: there is none
	Type    string
	At      time.Time
	Data    json.RawMessage
}

// Numbered reports whether the feed stores the event.
func (e *Event) Numbered() bool { return e.Seq > 0 }

// Snapshot is the state with which a channel begins after each connection. It contains every event up to Seq, and may contain
// later ones.
type Snapshot struct {
	Channel string
	Seq     int64
	At      time.Time
	Data    json.RawMessage
}

// Gap says that the events of a channel between From and Oldest are no longer available. The stored events follow. Read the
// routes again for the missing ones.
type Gap struct {
	Channel string
	From    int64
	Oldest  int64
}

// Beat is the server's sign of life, with the newest number of the whole feed.
type Beat struct {
	Head int64
	At   time.Time
}

// ServerError is what the server refuses or cannot do right now. The connection
// stays; a channel that does not exist is not asked for again. With db_unavailable a
// snapshot is late: it comes when the server can read it, or by Client.Refresh.
type ServerError struct {
	Code    string
	Message string
	Channel string // empty: none
}

func (*Event) message()       {}
func (*Snapshot) message()    {}
func (*Gap) message()         {}
func (*Beat) message()        {}
func (*ServerError) message() {}

func (e *ServerError) Error() string {
	if e.Channel != "" {
		return e.Code + ": " + e.Channel
	}
	return e.Code
}

// frame is any frame of the server.
type frame struct {
	Op         string          `json:"op"`
	ID         string          `json:"id"`
	HeartbeatS int             `json:"heartbeatS"`
	Channel    string          `json:"channel"`
	Channels   []string        `json:"channels"`
	Seq        *int64          `json:"seq"`
	Prev       *int64          `json:"prev"`
	Type       string          `json:"type"`
	At         time.Time       `json:"at"`
	Data       json.RawMessage `json:"data"`
	From       int64           `json:"from"`
	Oldest     int64           `json:"oldest"`
	Head       *int64          `json:"head"`
	Error      string          `json:"error"`
	Message    string          `json:"message"`
}

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// request is a frame of ours.
type request struct {
	Op       string           `json:"op"`
	ID       string           `json:"id"`
	Channels []string         `json:"channels"`
	Since    map[string]int64 `json:"since,omitempty"`
}
