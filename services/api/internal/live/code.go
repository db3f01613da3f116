package live

import "encoding/binary"

// Code is why a connection ends, as its close frame says it.
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

// The first byte of a websocket frame that is whole, by its kind (RFC 6455, 5.2).
const (
	textFrame  = 0x81
	closeFrame = 0x88
	pingFrame  = 0x89
	pongFrame  = 0x8a
)

// header is the room for the head of a frame that no client masks.
const header = 10

// Ping is the frame that asks for a sign of life.
var Ping = []byte{pingFrame, 0}

// Text wraps a text into a frame.
func Text(text []byte) []byte {
	return append(appendHead(make([]byte, 0, header+len(text)), textFrame, len(text)), text...)
}

// Pong is the answer to a ping.
func Pong(payload []byte) []byte {
	return append(appendHead(make([]byte, 0, header+len(payload)), pongFrame, len(payload)), payload...)
}

// frame is the last that a connection says.
func (c Code) frame() []byte {
	b := appendHead(make([]byte, 0, header+len(c.Reason)), closeFrame, 2+len(c.Reason))
	return append(binary.BigEndian.AppendUint16(b, uint16(c.Status)), c.Reason...)
}

func appendHead(b []byte, kind byte, size int) []byte {
	switch {
	case size < 126:
		return append(b, kind, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, kind, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, kind, 127), uint64(size))
}
