package program

import (
	"strconv"
	"time"
)

// The length of a slot and of its two parts. They are constants of the
// protocol: every replica and every client computes the same slots from them.
const (
	BumperLength  = 10 * time.Second
	ContentLength = 600 * time.Second
	SlotLength    = BumperLength + ContentLength
)

const slotSeconds = int64(SlotLength / time.Second)

// Slot numbers the stretches of 610 seconds since 1970, in every lane alike.
type Slot int64

// SlotAt is the slot that a moment lies in.
func SlotAt(t time.Time) Slot {
	sec := t.Unix()
	k := sec / slotSeconds
	if sec%slotSeconds < 0 { // floor, not truncation, before 1970
		k--
	}
	return Slot(k)
}

// Start is when the slot and its bumper begin.
func (s Slot) Start() time.Time { return time.Unix(int64(s)*slotSeconds, 0).UTC() }

// Content is when the bumper ends and the content begins.
func (s Slot) Content() time.Time { return s.Start().Add(BumperLength) }

// End is when the next slot begins.
func (s Slot) End() time.Time { return s.Start().Add(SlotLength) }

// Boundary is the first moment after t at which what airs changes: the end of
// the running bumper or of the running slot.
func Boundary(t time.Time) time.Time {
	s := SlotAt(t)
	if c := s.Content(); t.Before(c) {
		return c
	}
	return s.End()
}

// Kind tells the two parts of a slot apart.
type Kind string

// The kinds of a segment.
const (
	Bumper  Kind = "bumper"
	Content Kind = "content"
)

// SegmentID names one part of one slot of a lane of a channel.
func SegmentID(channel string, lane Lane, slot Slot, kind Kind) string {
	b := make([]byte, 0, len(channel)+len(lane)+16)
	b = append(b, channel...)
	b = append(b, ':')
	b = append(b, lane...)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(slot), 10)
	return string(append(b, ':', kind[0]))
}
