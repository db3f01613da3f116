package program

import (
	"strconv"
	"time"
)

// Lengths of a slot and of its two parts, the bumper and the content. The protocol defines them, so all replicas and clients
// compute the same slots.
const (
	BumperLength  = 10 * time.Second
	ContentLength = 600 * time.Second
	SlotLength    = BumperLength + ContentLength
)

const slotSeconds = int64(SlotLength / time.Second)

// Slot is the number of a period of 610 seconds, counted from the start of 1970 in UTC. The slots are the same in all lanes.
type Slot int64

// SlotAt returns the slot that contains the time t.
func SlotAt(t time.Time) Slot {
	sec := t.Unix()
	k := sec / slotSeconds
	if sec%slotSeconds < 0 { // round down, because integer division rounds up before 1970
		k--
	}
	return Slot(k)
}

// Start returns the time when the slot and its bumper start.
func (s Slot) Start() time.Time { return time.Unix(int64(s)*slotSeconds, 0).UTC() }

// Content returns the time when the bumper of the slot ends and its content starts.
func (s Slot) Content() time.Time { return s.Start().Add(BumperLength) }

// End returns the time when the slot ends and the next slot starts.
func (s Slot) End() time.Time { return s.Start().Add(SlotLength) }

// Boundary returns the first segment boundary after t: the end of the running bumper or of the running slot.
func Boundary(t time.Time) time.Time {
	s := SlotAt(t)
	if c := s.Content(); t.Before(c) {
		return c
	}
	return s.End()
}

// Kind is the kind of a segment: Bumper or Content.
type Kind string

// Kinds of segments. A slot consists of a bumper and the content after it.
const (
	Bumper  Kind = "bumper"
	Content Kind = "content"
)

// SegmentID returns the ID of a segment. It consists of channel, lane, slot and the first letter of the kind, separated by
// colons.
func SegmentID(channel string, lane Lane, slot Slot, kind Kind) string {
	b := make([]byte, 0, len(channel)+len(lane)+16)
	b = append(b, channel...)
	b = append(b, ':')
	b = append(b, lane...)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(slot), 10)
	return string(append(b, ':', kind[0]))
}
