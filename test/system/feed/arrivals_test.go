package feed

import (
	"bytes"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// arrivals records the time at which each connection received each event in a range of the feed.
type arrivals struct {
	start time.Time
	base  int64            // number of the event before the first one
	at    [][]atomic.Int32 // by connection and event: microseconds since start; 0: not received
	last  []int64          // by connection: number of the last event received

	received, repeated, holes, unexpected atomic.Int64
	example                               atomic.Pointer[string] // an unexpected message
}

// newArrivals creates a record for at most the given number of events after the newest one.
func newArrivals(t *testing.T, s *stack.Stack, connections, events int) *arrivals {
	t.Helper()
	a := &arrivals{
		start: time.Now(), base: stack.Query[int64](t, s, "SELECT seq FROM api.feed_head"),
		at: make([][]atomic.Int32, connections), last: make([]int64, connections),
	}
	for i := range a.at {
		a.at[i] = make([]atomic.Int32, events)
	}
	return a
}

var eventHead = regexp.MustCompile(`^\{"op":"event","channel":"[^"]*","seq":(\d+),"prev":(\d+|null)`)

// record records a message that the connection with index i received.
func (a *arrivals) record(i int, frame []byte) {
	m := eventHead.FindSubmatch(frame)
	if m == nil {
		if bytes.HasPrefix(frame, []byte(`{"op":"gap"`)) || bytes.HasPrefix(frame, []byte(`{"op":"error"`)) &&
			!bytes.HasPrefix(frame, []byte(`{"op":"error","error":"db_unavailable"`)) { // the snapshot follows later
			a.reject(frame)
		}
		return
	}
	seq, _ := strconv.ParseInt(string(m[1]), 10, 64)  // the pattern matches digits only
	prev, _ := strconv.ParseInt(string(m[2]), 10, 64) // digits, or null, which becomes 0
	n := seq - a.base - 1
	switch {
	case n < 0 || n >= int64(len(a.at[i])):
		a.reject(frame)
	case a.at[i][n].Load() != 0:
		a.repeated.Add(1)
	default:
		a.at[i][n].Store(int32(max(1, time.Since(a.start).Microseconds())))
		a.received.Add(1)
		if a.last[i] != 0 && a.last[i] != prev {
			a.holes.Add(1)
		}
	}
	a.last[i] = seq
}

func (a *arrivals) reject(frame []byte) {
	a.unexpected.Add(1)
	text := string(frame)
	a.example.Store(&text)
}

// await waits until all connections together have received n events. It stops early when no event is received for the time d.
func (a *arrivals) await(t *testing.T, n int64, d time.Duration) {
	t.Helper()
	for last, since := a.received.Load(), time.Now(); a.received.Load() < n && time.Since(since) < d; {
		if now := a.received.Load(); now != last {
			last, since = now, time.Now()
		}
		stack.Wait(t, 5*time.Millisecond)
	}
}

// require fails the test unless each of the first connections received every event of sent exactly once and in order.
// connections is their number. sent maps event numbers to the times at which the events were written. It returns the delays of
// all deliveries.
func (a *arrivals) require(t *testing.T, connections int, sent map[int64]time.Time) *stack.Times {
	t.Helper()
	delays, lost := &stack.Times{}, 0
	for seq, at := range sent {
		for i := range connections {
			if us := a.at[i][seq-a.base-1].Load(); us == 0 {
				lost++
			} else {
				delays.Add(a.start.Add(time.Duration(us) * time.Microsecond).Sub(at))
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d deliveries are missing; want 0", lost, connections*len(sent))
	}
	if a.repeated.Load()+a.holes.Load()+a.unexpected.Load() > 0 {
		example := ""
		if text := a.example.Load(); text != nil {
			example = *text
		}
		t.Errorf("%d events were repeated, %d came without their predecessor, and %d messages were unexpected, want 0 of each: %.300s",
			a.repeated.Load(), a.holes.Load(), a.unexpected.Load(), example)
	}
	return delays
}
