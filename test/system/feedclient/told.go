package feedclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"sync"
)

// Told is one numbered event as a reader got it.
type Told struct {
	Seq int64
	Sum uint64 // of its type and data
}

// Sum is of an event's type and stored data, however the data is spaced: the receipt, which reads
// append, is left out.
func Sum(kind string, data []byte) uint64 {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		b.Write(data) // no JSON, which will show
	}
	stored := b.Bytes()
	const receipt = `,"receiptUrl":"`
	if i := bytes.LastIndex(stored, []byte(receipt)); i >= 0 {
		end := i + len(receipt) + bytes.IndexByte(stored[i+len(receipt):], '"') + 1
		stored = append(stored[:i:i], stored[end:]...)
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s\n%s", kind, stored)
	return h.Sum64()
}

// Notes are what a reader has written down. Its places follow from them: what was not
// written down was not heard.
type Notes struct {
	mu     sync.Mutex
	since  map[string]int64 // where it began
	got    map[string][]Told
	places map[string]int64
	counts Counts
	paper  io.Writer // a line for each note; nil: none
}

// Counts are of what a reader lived through.
type Counts struct {
	Connections int // that came so far that every channel was listened to
	Holes       int // that it saw
	Gaps        int // stretches that it was told are gone
	Repeats     int // of what it had, and that it kept to itself
	Refused     []string
}

func newNotes(since map[string]int64) *Notes {
	return &Notes{since: maps.Clone(since), got: map[string][]Told{}, places: maps.Clone(since)}
}

// took notes an event.
func (n *Notes) took(channel string, t Told) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got[channel] = append(n.got[channel], t)
	n.places[channel] = t.Seq
	if n.paper != nil {
		_, _ = fmt.Fprintf(n.paper, "event %s %d %x\n", channel, t.Seq, t.Sum) // nobody reads it: nobody heard it
	}
}

// What a reader lives through, beside events.
const (
	live    = "live"
	hole    = "hole"
	gap     = "gap"
	again   = "again"
	refused = "refused"
)

// lived notes what happened; what says more of a refusal.
func (n *Notes) lived(kind, what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch kind {
	case live:
		n.counts.Connections++
	case hole:
		n.counts.Holes++
	case gap:
		n.counts.Gaps++
	case again:
		n.counts.Repeats++
	default:
		n.counts.Refused = append(n.counts.Refused, what)
	}
	if n.paper != nil {
		_, _ = fmt.Fprintf(n.paper, "%s %s\n", kind, what)
	}
}

// Places are the numbers up to which the channels were heard.
func (n *Notes) Places() map[string]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.places)
}

// Since is where a channel began.
func (n *Notes) Since(channel string) int64 { return n.since[channel] }

// Got is what was told on a channel, in the order of arrival.
func (n *Notes) Got(channel string) []Told {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.got[channel][:len(n.got[channel]):len(n.got[channel])]
}

// So is how often what happened so far.
func (n *Notes) So() Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts
}
