package program

import (
	"cmp"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Default and maximum number of segments of a programme in one response.
const (
	DefaultLimit = 200
	MaxLimit     = 400
)

// computedSlots is the number of slots in the programme of a computed channel, including the running slot.
const computedSlots = 12

// LaneRow is one lane of a Program with the segments of that lane.
type LaneRow struct {
	Key      Lane
	Segments []int32 // indexes into Program.Segments, ascending
}

// Program is the programme of one channel, as it was built at the time GeneratedAt. It is immutable.
type Program struct {
	Channel     string
	GeneratedAt time.Time
	Until       time.Time // first segment boundary after GeneratedAt
	Total       int       // number of segments before a limit is applied
	Segments    []Segment // sorted by start, then by lane key
	Lanes       []LaneRow // in the order of laneTable
	Spec        string    // canonical FilterSpec; empty for a stored channel
	Degraded    string    // SourceLedger or SourceDatabase, whichever failed; empty: none
}

// Cut returns a programme with the first n segments and with the lanes that contain at least one of these segments. Total does
// not change.
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

// Limit returns the number of segments for the requested number n. It returns DefaultLimit if n is less than 1, and MaxLimit if n
// is greater than MaxLimit.
func Limit(n int) int {
	if n < 1 {
		return DefaultLimit
	}
	return min(n, MaxLimit)
}

// cell is one slot of one lane and the market that airs in it.
type cell struct {
	slot   Slot
	lane   Lane
	market *Market
	filled int64 // time when the slot was filled, in Unix milliseconds; 0: the slot is not stored
}

// assemble builds a Program from cells, which may be in any order. Each cell becomes a bumper segment and a content segment.
// assemble sorts cells.
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

// segment returns the segment of the given kind for the cell.
func (c *cell) segment(channel string, kind Kind, now time.Time) Segment {
	s := newSegment(channel, c.lane, c.slot, kind, c.market, now)
	if c.filled != 0 {
		s.PlannedAt = time.UnixMilli(c.filled).UTC()
	}
	return s
}

// Compute returns the programme of a computed channel, for computedSlots slots from the running slot on. The chosen markets of a
// lane take turns: slot k has the market with the index k mod n, where n is their number.
func Compute(q *Query, picks Picks, pool *Pool, now time.Time) *Program {
	running := SlotAt(now)
	return assemble(q.Channel(), q.Spec.Canonical(), rotate(picks, pool, running, running+computedSlots-1), now)
}

// rotate returns a cell for each lane and each slot between from and to, both included. The chosen markets of a lane take turns.
// It omits a cell whose market is not in the pool.
func rotate(picks Picks, pool *Pool, from, to Slot) []cell {
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

// Show returns the programme of a stored channel from the running slot on. It omits a future slot whose market may not air. If
// the cached markets are stale, it includes every stored slot, without prices.
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

// market returns the market of the entry without a price. old is an earlier copy of the market, from which it takes the other
// fields. If old is nil, only the stored fields of the entry are known.
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
