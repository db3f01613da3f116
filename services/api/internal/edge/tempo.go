package edge

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/teeth"
)

// errTempo ends a connection whose client sends too much.
var errTempo = errors.New("too many frames")

// closeOpcode is that of the last frame of a client (RFC 6455, 5.2).
const closeOpcode = 8

// tempo counts the frames of a client as they come in: at most twice the rate in any
// two seconds. Each counts, whatever it is: a ping, and a piece of a message that never
// ends, cost as much to take as a message that says something. Only the close frame,
// behind which nothing is read, is free.
type tempo struct {
	now   func() time.Time
	times []int64 // of the last frames, a ring
	next  int
	over  bool

	head  [14]byte // of the frame that has begun
	known int      // bytes of it
	rest  uint64   // bytes of its payload that are to come
}

func newTempo(rate int, now func() time.Time) *tempo {
	return &tempo{now: now, times: make([]int64, 2*rate)}
}

// count finds the frames that begin in b.
func (t *tempo) count(b []byte) {
	for len(b) > 0 && !t.over {
		if t.rest > 0 {
			n := min(t.rest, uint64(len(b)))
			t.rest -= n
			b = b[n:]
			continue
		}
		t.head[t.known] = b[0]
		t.known++
		b = b[1:]
		if t.begun() && t.head[0]&0x0f != closeOpcode {
			t.frame(t.now().UnixNano())
		}
	}
}

// begun tells whether the head of a frame is complete.
func (t *tempo) begun() bool {
	if t.known < 2 {
		return false
	}
	size, long := uint64(t.head[1]&0x7f), 0
	switch size {
	case 126:
		long = 2
	case 127:
		long = 8
	}
	whole := 2 + long
	if t.head[1]&0x80 != 0 {
		whole += 4 // the mask
	}
	if t.known < whole {
		return false
	}
	switch long {
	case 2:
		size = uint64(binary.BigEndian.Uint16(t.head[2:]))
	case 8:
		size = binary.BigEndian.Uint64(t.head[2:])
	}
	t.known, t.rest = 0, size
	return true
}

func (t *tempo) frame(now int64) {
	oldest := t.times[t.next]
	since := time.Duration(now - oldest) // negative where the clock was set back
	if oldest != 0 && since >= 0 && since < 2*time.Second && !teeth.Bites("E6") {
		t.over = true
		return
	}
	t.times[t.next] = now
	t.next = (t.next + 1) % len(t.times)
}
