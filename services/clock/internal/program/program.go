package program

import (
	"cmp"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of a Program read.
const (
	DefaultLimit = 200
	MaxLimit     = 400
)

// computedSlots is how many slots a computed channel shows: the running one
// and the next eleven.
const computedSlots = 12

// LaneRow is a lane of a Program.
type LaneRow struct {
	Key      Lane
	Segments []int32 // indexes into Program.Segments, ascending
}

// Program is one channel at one moment. It is immutable.
type Program struct {
	Channel     string
	GeneratedAt time.Time
	Until       time.Time // the first boundary after GeneratedAt
	Total       int       // segments before any limit
	Segments    []Segment // by start, then lane key
	Lanes       []LaneRow // in table order
	Spec        string    // canonical FilterSpec, empty: the stored default
	Degraded    string    // the source that failed, empty: none
}

// Cut keeps the first n segments and the lanes that still have one.
func (p *Program) Cut(n int) *Program {
	if n >= len(p.Segments) {
		return p
	}
	c := *p
	c.Segments = p.Segments[:n]
	c.Lanes = nil
	for _, l := range p.Lanes {
		keep, _ := slices.BinarySearch(l.Segments, int32(n))
		if keep > 0 {
			c.Lanes = append(c.Lanes, LaneRow{Key: l.Key, Segments: l.Segments[:keep]})
		}
	}
	return &c
}

// Limit reads a limit: below one is the default, above the maximum is the
// maximum.
func Limit(n int) int {
	if n < 1 {
		return DefaultLimit
	}
	return min(n, MaxLimit)
}

// cell is one slot of one lane with the market that airs in it.
type cell struct {
	slot   Slot
	lane   Lane
	market *Market
	filled int64 // unix milliseconds, 0: not stored
}

// assemble lays cells out as a Program. Cells come in any order.
func assemble(channel, spec string, cells []cell, now time.Time) *Program {
	p := &Program{
		Channel: channel, GeneratedAt: now.UTC().Truncate(time.Millisecond), Until: Boundary(now), Spec: spec,
		Total: 2 * len(cells), Segments: make([]Segment, 0, 2*len(cells)),
	}
	slices.SortFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.lane, b.lane))
	})
	var rows [len(laneTable)][]int32
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && cells[n].slot == cells[0].slot {
			n++
		}
		for _, kind := range [...]Kind{Bumper, Content} { // all bumpers of a slot start before its contents
			for _, c := range cells[:n] {
				if i := c.lane.index(); i >= 0 {
					rows[i] = append(rows[i], int32(len(p.Segments)))
				}
				p.Segments = append(p.Segments, c.segment(channel, kind, now))
			}
		}
		cells = cells[n:]
	}
	for i, segments := range rows {
		if len(segments) > 0 {
			p.Lanes = append(p.Lanes, LaneRow{Key: laneTable[i].lane, Segments: segments})
		}
	}
	return p
}

// segment is one part of the cell's slot.
func (c *cell) segment(channel string, kind Kind, now time.Time) Segment {
	s := newSegment(channel, c.lane, c.slot, kind, c.market, now)
	if c.filled != 0 {
		s.PlannedAt = time.UnixMilli(c.filled).UTC()
	}
	return s
}

// Compute lays out a computed channel: slot k of a lane airs pick k mod n, for
// the running slot and the next eleven.
func Compute(q *Query, picks Picks, pool *Pool, now time.Time) *Program {
	running := SlotAt(now)
	return assemble(q.Channel(), q.Spec.Canonical(), turns(picks, pool, running, running+computedSlots-1), now)
}

// turns lets the picks of each lane take turns from one slot to another.
func turns(picks Picks, pool *Pool, from, to Slot) []cell {
	cells := make([]cell, 0, len(picks)*int(to-from+1))
	for i := range picks {
		n := Slot(len(picks[i].Markets))
		for k := from; k <= to; k++ {
			if m := pool.Find(picks[i].Markets[(k%n+n)%n]); m != nil {
				cells = append(cells, cell{slot: k, lane: picks[i].Lane, market: m})
			}
		}
	}
	return cells
}

// Show lays out the stored rundown from the running slot on. A slot that has
// not started is left out while its market may not be aired; when the copy of
// the markets is too old to know, every slot is shown as it was stored, without
// a price.
func Show(channel string, entries []Entry, pool *Pool, now time.Time) *Program {
	running, stale := SlotAt(now), pool.Stale(now)
	cells := make([]cell, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.Slot < running || e.Slot > running+Ahead || e.Lane.index() < 0 {
			continue
		}
		m := pool.Find(e.Market)
		switch {
		case stale || (m == nil && e.Slot == running):
			m = e.market(m)
		case e.Slot > running && (m == nil || !m.Airable(now)):
			continue
		}
		cells = append(cells, cell{slot: e.Slot, lane: e.Lane, market: m, filled: e.Filled})
	}
	return assemble(channel, "", cells, now)
}

// market is what the entry itself knows of its market, with the counts of an
// old copy where there is one, but never its price.
func (e *Entry) market(old *Market) *Market {
	m := Market{Title: e.Title, EventKey: e.EventKey, End: e.End, Volume: Unknown, DayVolume: Unknown}
	if old != nil {
		m = *old
	}
	m.ID, m.Provider, m.Lane, m.Yes = e.Market, e.Market.Provider(), e.Lane, NoPrice
	if m.Status == "" {
		m.Status = protocol.MarketUnknown
	}
	return &m
}
