package broker

import (
	"fmt"
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// EventFrame returns the JSON text of a numbered event for the channel of link l. Channel names and types contain no
// characters that JSON escapes.
func EventFrame(m *feed.Message, l feed.Link) []byte {
	prev := "null"
	if l.Prev > 0 {
		prev = strconv.FormatInt(l.Prev, 10)
	}
	return fmt.Appendf(nil, `{"op":"event","channel":"%s","seq":%d,"prev":%s,"type":"%s","at":"%s","data":%s}`,
		l.Channel.Shown(), m.Seq, prev, m.Type, protocol.Stamp(m.At), m.Data)
}

// EphemeralFrame returns the JSON text of an event without a number.
func EphemeralFrame(e *feed.Ephemeral) []byte {
	return fmt.Appendf(nil, `{"op":"event","channel":"%s","type":"%s","at":"%s","data":%s}`,
		e.Channel.Shown(), e.Type, protocol.Stamp(e.At), e.Data)
}

// GapFrame returns the JSON text of a gap frame: the events of channel c with from < number < oldest are no longer stored.
func GapFrame(c feed.Channel, from, oldest int64) []byte {
	return fmt.Appendf(nil, `{"op":"gap","channel":"%s","from":%d,"oldest":%d}`, c.Shown(), from, oldest)
}
