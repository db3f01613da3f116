package program

import (
	"cmp"
	"slices"
	"time"
)

// priority returns the priority of a content segment that airs at the time now, as a level and an order. A smaller level is a
// higher priority. Of two segments with the same level, the one with the smaller order has the higher priority.
//
// A market with a live stream comes first, then a market with takes, then a market whose price moved by at least strongMove
// within an hour, then a market that ends within resolvingTime. All other markets have equal priority.
func priority(s *Segment, now time.Time) (int, int64) {
	switch end := s.MarketEnd.Sub(now); {
	case s.Streams > 0:
		return 0, -int64(s.Streams)
	case s.Takes > 0:
		return 1, -s.Takes
	case max(s.Move, -s.Move) >= strongMove:
		return 2, -int64(max(s.Move, -s.Move))
	case !s.MarketEnd.IsZero() && end > 0 && end <= resolvingTime:
		return 3, int64(end)
	}
	return 4, 0
}

// strongMove is the smallest price change within an hour, in bps, that gives a segment priority.
const strongMove = 500

// Now returns the segment (bumper or content) that airs at the time t in the lane with the highest priority. It considers only
// the given lanes, or all lanes if lanes is empty. It returns nil if no segment airs.
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

// Next returns the next content segment after the time t in the lane that Now selects. It returns nil if there is none.
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

// lane returns the lane with the highest priority at the time t. It considers only the lanes in want, or all lanes if want is
// empty. A lane in which a segment airs has priority over a lane in which none airs; of the latter, the lane with the earliest
// segment has priority. Of lanes with equal priority, the first one in p.Lanes is returned. It returns nil if there is no lane.
func (p *Program) lane(want []Lane, t time.Time) *LaneRow {
	running := SlotAt(t)
	var best *LaneRow
	bestLevel, bestOrder := 0, int64(0)
	for i := range p.Lanes {
		l := &p.Lanes[i]
		if len(want) > 0 && !slices.Contains(want, l.Key) {
			continue
		}
		level, order := 5, int64(0) // level of a lane in which nothing airs
		for _, j := range l.Segments {
			if s := &p.Segments[j]; s.Slot == running && s.Kind == Content {
				level, order = priority(s, t)
				break
			} else if s.Slot > running {
				order = int64(s.Slot)
				break
			}
		}
		if best == nil || cmp.Or(cmp.Compare(level, bestLevel), cmp.Compare(order, bestOrder)) < 0 {
			best, bestLevel, bestOrder = l, level, order
		}
	}
	return best
}
