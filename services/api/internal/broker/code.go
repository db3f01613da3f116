package broker

import "github.com/gobwas/ws"

// Code is the websocket status and the reason with which a connection is closed.
type Code struct {
	Status int
	Reason string
}

// Close codes of the websocket API. Their meanings are in docs/protocol/ws.md.
var (
	Normal          = Code{1000, "bye"}
	ConnLost        = Code{1006, ""} // the connection failed; this code is never sent
	GoingAway       = Code{1001, "shutdown"}
	BrokenRules     = Code{1002, "not a frame"}
	Unsupported     = Code{1003, "text frames only"}
	NoPong          = Code{1008, "no pong"}
	TooLarge        = Code{1009, "frame too large"}
	Unauthenticated = Code{4001, "unauthenticated"}
	SlowConsumer    = Code{4008, "slow_consumer"}
	RateLimited     = Code{4029, "rate_limited"}
)

// Ping contains the bytes of a ping frame without payload.
var Ping = ws.CompiledPing

// Text returns the bytes of a websocket text frame with the payload text.
func Text(text []byte) []byte { return ws.MustCompileFrame(ws.NewTextFrame(text)) }

// Pong returns the bytes of a websocket pong frame. payload must be the payload of the ping frame (RFC 6455 5.5.3).
func Pong(payload []byte) []byte { return ws.MustCompileFrame(ws.NewPongFrame(payload)) }

// frame returns the bytes of a websocket close frame with the status and the reason of c.
func (c Code) frame() []byte {
	return ws.MustCompileFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusCode(c.Status), c.Reason)))
}
