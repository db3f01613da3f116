package httpapi

import (
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
)

// helloJSON is the first frame that the server sends on a connection. This file contains the types of all frames that the
// server sends, except events, which package broker builds.
type helloJSON struct {
	Op           string          `json:"op"`
	Protocol     string          `json:"protocol"`
	ConnectionID string          `json:"connectionId"`
	HeartbeatS   int             `json:"heartbeatS"`
	Limits       helloLimitsJSON `json:"limits"`
	ServerTime   string          `json:"serverTime"`
	Head         int64           `json:"head"` // newest event number; a later subscribe with it as since misses no event
}

type helloLimitsJSON struct {
	Subscriptions   int `json:"subscriptions"`
	FramesPerSecond int `json:"framesPerSecond"`
	FrameBytes      int `json:"frameBytes"`
}

type ackJSON struct {
	Op       string   `json:"op"`
	ID       string   `json:"id,omitempty"`
	Channels []string `json:"channels"`
}

type snapshotJSON struct {
	Op      string `json:"op"`
	Channel string `json:"channel"`
	Seq     int64  `json:"seq"`
	At      string `json:"at"`
	Data    any    `json:"data"`
}

type marketSnapshotJSON struct {
	YesBps  *int64 `json:"yesBps"`
	Status  string `json:"status"`
	Yes     int64  `json:"yes"`
	No      int64  `json:"no"`
	Viewers int64  `json:"viewers"`

	Sides *openapi.MarketSides `json:"sides,omitempty"` // nil if they are Yes and No
}

// meSnapshotJSON is the snapshot data of the channel "me". It contains the handle of the socket's operator and the
// permissions of its key.
type meSnapshotJSON struct {
	Handle      string   `json:"handle"`
	Permissions []string `json:"permissions"`
}

// wireSnapshotJSON is the snapshot data of the channel "wire". It contains the markets with the largest price moves.
type wireSnapshotJSON struct {
	Items []openapi.Move `json:"items"`
}

// emptySnapshots contains the snapshot data of channels for which no service has published a state yet. The keys are the
// kinds of channels.
var emptySnapshots = map[string]json.RawMessage{
	"operator": json.RawMessage(`{"live":false,"showId":null,"signal":null,"approved":false}`),
	"overlay":  json.RawMessage(`{"marketId":null}`),
	"live":     json.RawMessage(`{"live":[],"recent":[]}`),
	"program":  json.RawMessage(`{"now":null,"next":null}`),
}

// endJSON is the data of the last event of a stream of server-sent events. It has the code and the reason of a websocket close
// frame.
type endJSON struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

type pongJSON struct {
	Op string `json:"op"`
	ID string `json:"id,omitempty"`
}

type beatJSON struct {
	Op   string `json:"op"`
	Head int64  `json:"head"`
	At   string `json:"at"`
}

type errorFrameJSON struct {
	Op string `json:"op"`
	ID string `json:"id,omitempty"`
	errorJSON
	Channel string `json:"channel,omitempty"`
}

type errorJSON struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// Errors of client frames. The client receives each as an error frame, and the socket stays open.
var (
	errFrame = apperr.New(apperr.Invalid, "invalid_frame",
		"a frame must be one JSON object with op auth, subscribe, unsubscribe or ping; "+
			"id, if present, must be a string of at most 64 characters")
	errChannel = apperr.New(apperr.Invalid, "unknown_channel", "no such channel; docs/protocol/ws.md lists the channels")
	errSince   = apperr.New(apperr.Invalid, "invalid_since", "since must be the number (seq) of an event, an integer of at least 0")
	errOwn     = apperr.New(apperr.Unauthenticated, "unauthenticated",
		"this channel requires an operator key: use the websocket and send a frame with op auth first")
	errAnother = apperr.New(apperr.Unauthenticated, "unauthenticated", "this channel belonged to the previous key and has ended; subscribe again for the new key")
	errFuture  = apperr.New(apperr.Invalid, "future_cursor", "since is greater than the newest event number; only new events follow")
	errFull    = apperr.New(apperr.Conflict, "limit_reached",
		"limit of 50 subscriptions of a connection reached; unsubscribe from a channel first")
)

// encode returns the JSON of v. It panics if v has no JSON form.
func encode(v any) []byte {
	b, err := httpx.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func errorFrame(id, channel string, err error) []byte {
	f := apperr.Of(err)
	message := f.Message
	if f.Kind == apperr.Internal {
		message = ""
	}
	return encode(errorFrameJSON{Op: "error", ID: id, errorJSON: errorJSON{Error: f.Code, Message: message}, Channel: channel})
}

func beatFrame(head int64, at time.Time) []byte {
	return encode(beatJSON{Op: "beat", Head: head, At: protocol.Stamp(at)})
}

// frameLimiter limits the number of frames of a client in any two seconds to twice the allowed frames per second. Pings and
// fragments count as well, because reading one costs as much as reading a message. A close frame does not count, because
// nothing is read after it.
type frameLimiter struct {
	now   func() time.Time
	times []int64 // times of the last frames in Unix nanoseconds; a ring buffer
	next  int
}

func newFrameLimiter(rate int, now func() time.Time) *frameLimiter {
	return &frameLimiter{now: now, times: make([]int64, 2*rate)}
}

// allow reports whether one more frame is within the limit, and counts it if so.
func (t *frameLimiter) allow() bool {
	now, oldest := t.now().UnixNano(), t.times[t.next]
	since := time.Duration(now - oldest) // negative if the clock was set back
	if oldest != 0 && since >= 0 && since < 2*time.Second {
		return false
	}
	t.times[t.next] = now
	t.next = (t.next + 1) % len(t.times)
	return true
}
