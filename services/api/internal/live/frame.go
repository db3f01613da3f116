package live

import (
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// EventFrame is the text frame of a numbered event on one of its channels.
// Channel names and types need no escaping: ParseChannel admits no such letter.
func EventFrame(m *feed.Message, l feed.Link) []byte {
	b := frameHead(l.Channel.Shown(), len(m.Data))
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, m.Seq, 10)
	b = append(b, `,"prev":`...)
	if l.Prev > 0 {
		b = strconv.AppendInt(b, l.Prev, 10)
	} else {
		b = append(b, "null"...)
	}
	return frameTail(b, m.Type, m.At, m.Data)
}

// EphemeralFrame is the text frame of news without a number.
func EphemeralFrame(e *feed.Ephemeral) []byte {
	return frameTail(frameHead(e.Channel.Shown(), len(e.Data)), e.Type, e.At, e.Data)
}

// GapFrame is the text frame that tells of events behind from which are no longer kept.
func GapFrame(c feed.Channel, from, oldest int64) []byte {
	b := frameOf("gap", c.Shown(), 0)
	b = append(b, `,"from":`...)
	b = strconv.AppendInt(b, from, 10)
	b = append(b, `,"oldest":`...)
	b = strconv.AppendInt(b, oldest, 10)
	return append(b, '}')
}

func frameHead(channel string, size int) []byte { return frameOf("event", channel, size) }

func frameOf(op, channel string, size int) []byte {
	b := make([]byte, 0, size+len(channel)+160)
	b = append(b, `{"op":"`...)
	b = append(b, op...)
	b = append(b, `","channel":"`...)
	b = append(b, channel...)
	return append(b, '"')
}

func frameTail(b []byte, t feed.Type, at time.Time, data []byte) []byte {
	b = append(b, `,"type":"`...)
	b = append(b, t...)
	b = append(b, `","at":"`...)
	b = append(b, syntax.Stamp(at)...)
	b = append(b, `","data":`...)
	b = append(b, data...)
	return append(b, '}')
}
