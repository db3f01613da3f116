package program

import "time"

// A stretch is what a channel airs from one moment on for some time, as a list
// that is the same whenever it is made from the same facts.

// StoredStretch lays out stored entries.
func StoredStretch(channel string, entries []Entry, at time.Time, length time.Duration) []Segment {
	cells := make([]cell, 0, len(entries))
	for i := range entries {
		cells = append(cells, cell{slot: entries[i].Slot, lane: entries[i].Lane, market: entries[i].market(nil)})
	}
	return between(assemble(channel, "", cells, at).Segments, at, length)
}

// ComputedStretch lays out what the query would air if the pool were the facts
// of the moment at.
func ComputedStretch(q *Query, pool *Pool, at time.Time, length time.Duration) []Segment {
	cells := turns(q.Pick(pool, at), pool, SlotAt(at), SlotAt(at.Add(length)))
	return between(assemble(q.Channel(), "", cells, at).Segments, at, length)
}

// between keeps what airs at some moment of the stretch.
func between(all []Segment, at time.Time, length time.Duration) []Segment {
	var out []Segment
	for _, s := range all {
		if s.EndsAt.After(at) && s.StartsAt.Before(at.Add(length)) {
			out = append(out, s)
		}
	}
	return out
}
