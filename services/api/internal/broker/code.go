package broker

import "github.com/gobwas/ws"

// Code is the reason for the end of a connection, as its close frame states it.
type Code struct {
	Status int
	Reason string
}

// The close codes of the service.
var (
	Normal          = Code{1000, "bye"}
	Gone            = Code{1006, ""} // the connection is no more; never sent
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

// Text returns a text frame.
func Text(text []byte) []byte { return ws.MustCompileFrame(ws.NewTextFrame(text)) }

// Pong returns the answer to a ping.
func Pong(payload []byte) []byte { return ws.MustCompileFrame(ws.NewPongFrame(payload)) }

// frame returns the close frame of the code.
func (c Code) frame() []byte {
	return ws.MustCompileFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusCode(c.Status), c.Reason)))
}
