package broker

import "github.com/gobwas/ws"

// Code is a close code of a connection and the reason in its close frame.
type Code struct {
	Status int
	Reason string
}

// Close codes of the websocket API, see docs/protocol/ws.md.
var (
	Normal          = Code{1000, "bye"}
	ConnLost        = Code{1006, ""} // the connection failed; never sent
	GoingAway       = Code{1001, "shutdown"}
	BrokenRules     = Code{1002, "not a frame"}
	Unsupported     = Code{1003, "text frames only"}
	NoPong          = Code{1008, "no pong"}
	TooLarge        = Code{1009, "frame too large"}
	Unauthenticated = Code{4001, "unauthenticated"}
	SlowConsumer    = Code{4008, "slow_consumer"}
	RateLimited     = Code{4029, "rate_limited"}
)

// Ping is a ping frame without payload.
var Ping = ws.CompiledPing

// Text returns the bytes of a text frame with the given payload.
func Text(text []byte) []byte { return ws.MustCompileFrame(ws.NewTextFrame(text)) }

// Pong returns the bytes of a pong frame with the payload of its ping.
func Pong(payload []byte) []byte { return ws.MustCompileFrame(ws.NewPongFrame(payload)) }

// frame returns the bytes of the close frame.
func (c Code) frame() []byte {
	return ws.MustCompileFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusCode(c.Status), c.Reason)))
}
