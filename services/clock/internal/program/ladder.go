package program

import (
	"cmp"
	"slices"
	"time"
)

// rung places an on-air content segment on the ladder of what airs; smaller is
// higher, and the second figure orders within a rung.
//
// The ladder goes as far as the clock's own facts reach: a market with a live
// bound stream, then one that carries takes, then one in its final stretch,
// then the rest in table order. What moved on the wire is known to the ledger
// alone; its rung is left out here.
func rung(s *Segment, now time.Time) (int, int64) {
	switch end := s.MarketEnd.Sub(now); {
	case s.Streams > 0:
		return 0, -int64(s.Streams)
	case s.Takes > 0:
		return 1, -s.Takes
	case !s.MarketEnd.IsZero() && end > 0 && end <= finalStretch:
		return 2, int64(end)
	}
	return 3, 0
}

// Now is the segment that airs at a moment, a bumper too, in the highest lane
// of those asked for; none asked for means any. It is nil when nothing airs.
func (p *Program) Now(lanes []Lane, t time.Time) *Segment {
	l := p.lane(lanes, t)
	if l == nil {
		return nil
	}
	for _, i := range l.Segments {
		if s := &p.Segments[i]; s.Airs(t) {
			return s
		}
	}
	return nil
}

// Next is the next content segment of the lane that Now would choose, nil when
// there is none.
func (p *Program) Next(lanes []Lane, t time.Time) *Segment {
	l := p.lane(lanes, t)
	if l == nil {
		return nil
	}
	for _, i := range l.Segments {
		if s := &p.Segments[i]; s.Kind == Content && s.StartsAt.After(t) {
			return s
		}
	}
	return nil
}

// lane chooses the lane: one that airs something before one that does not yet.
func (p *Program) lane(want []Lane, t time.Time) *LaneRow {
	running := SlotAt(t)
	var best *LaneRow
	bestRung, bestWeight := 0, int64(0)
	for i := range p.Lanes {
		l := &p.Lanes[i]
		if len(want) > 0 && !slices.Contains(want, l.Key) {
			continue
		}
		r, w := 4, int64(0) // nothing on the air in this lane
		for _, j := range l.Segments {
			if s := &p.Segments[j]; s.Slot == running && s.Kind == Content {
				r, w = rung(s, t)
				break
			} else if s.Slot > running {
				w = int64(s.Slot)
				break
			}
		}
		if best == nil || cmp.Or(cmp.Compare(r, bestRung), cmp.Compare(w, bestWeight)) < 0 {
			best, bestRung, bestWeight = l, r, w
		}
	}
	return best
}
