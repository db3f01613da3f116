package edge

import "time"

// tempo counts the frames of a client: at most twice the rate in any two seconds. Each
// counts, whatever it is: a ping, and a piece of a message that never ends, cost as much
// to take as a message that says something. Only the close frame, behind which nothing
// is read, is free.
type tempo struct {
	now   func() time.Time
	times []int64 // of the last frames, a ring
	next  int
}

func newTempo(rate int, now func() time.Time) *tempo {
	return &tempo{now: now, times: make([]int64, 2*rate)}
}

// frame counts a frame that begins, and tells whether it may.
func (t *tempo) frame() bool {
	now, oldest := t.now().UnixNano(), t.times[t.next]
	since := time.Duration(now - oldest) // negative where the clock was set back
	if oldest != 0 && since >= 0 && since < 2*time.Second {
		return false
	}
	t.times[t.next] = now
	t.next = (t.next + 1) % len(t.times)
	return true
}
