package feed

import (
	"encoding/json"
	"fmt"
	"time"
)

// Message is one of *Event, *Snapshot, *Gap, *Beat and *ServerError.
type Message interface{ message() }

// Event is an event of a channel. Each numbered event is delivered once, in order. Events without a number have Seq 0 and may be
// lost.
type Event struct {
	Channel string
	Seq     int64 // number of the event in the feed; 0: not numbered
	Prev    int64 // number of the previous event of the channel; 0: none
	Type    string
	At      time.Time
	Data    json.RawMessage
}

// Decode returns the data of the event as a pointer to the type of package client that belongs to its Type, for example
// *client.FeedSignal for SignalCreated. For an unknown type of a newer service, it returns Data as a json.RawMessage. It returns
// an error if the data does not have the form of the type.
//
//	data, err := e.Decode()
//	if call, ok := data.(*client.FeedSignal); ok {
//		fmt.Println(call.MarketID, call.Direction)
//	}
func (e *Event) Decode() (any, error) {
	data := newData(e.Type)
	if data == nil {
		return e.Data, nil
	}
	if err := json.Unmarshal(e.Data, data); err != nil {
		return nil, fmt.Errorf("feed: the data of event %d does not have the form of %s: %w", e.Seq, e.Type, err)
	}
	return data, nil
}

// Numbered reports whether the event has a number. The feed stores only numbered events.
func (e *Event) Numbered() bool { return e.Seq > 0 }

// Snapshot is the state of a channel. The server sends it first on each connection. It includes all events up to number Seq, and
// may include later ones.
type Snapshot struct {
	Channel string
	Seq     int64
	At      time.Time
	Data    json.RawMessage
}

// Gap reports that the server no longer stores the events of a channel after number From and before number Oldest. The stored
// events follow. To get the missing data, read the HTTP routes again.
type Gap struct {
	Channel string
	From    int64
	Oldest  int64
}

// Beat is the heartbeat of the server. Head is the newest event number of the whole feed.
type Beat struct {
	Head int64
	At   time.Time
}

// ServerError is an error frame of the server. The connection remains open. The client does not subscribe again to a channel that
// does not exist. With the code db_unavailable, the snapshot of the channel is delayed: the server sends it later, or after
// Client.Refresh.
type ServerError struct {
	Code    string
	Message string
	Channel string // empty: the error concerns no channel
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

// frame is a frame that the server sends. Op determines which other members are set.
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

// ParseMessage returns the *Event or the *Gap of a frame, such as one in the request of a webhook. It returns nil for a frame of
// another kind.
func ParseMessage(raw []byte) (Message, error) {
	var f frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("feed: the frame does not have the form of a frame: %w", err)
	}
	switch f.Op {
	case "event":
		return f.event(), nil
	case "gap":
		return &Gap{Channel: f.Channel, From: f.From, Oldest: f.Oldest}, nil
	}
	return nil, nil
}

func (f *frame) event() *Event {
	return &Event{Channel: f.Channel, Seq: number(f.Seq), Prev: number(f.Prev), Type: f.Type, At: f.At, Data: f.Data}
}

// number returns *n, or 0 if n is nil.
func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// request is a frame that the client sends. Op is "subscribe" or "unsubscribe".
type request struct {
	Op       string           `json:"op"`
	ID       string           `json:"id"`
	Channels []string         `json:"channels"`
	Since    map[string]int64 `json:"since,omitempty"`
}
