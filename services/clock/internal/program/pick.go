package program

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Picks contains the markets chosen for each lane, in the order of the lanes in laneTable. It omits lanes without a chosen
// market.
type Picks []LanePick

// LanePick contains the markets chosen for one lane, best first.
type LanePick struct {
	Lane    Lane
	Markets []protocol.MarketID
}

// Lane returns the markets chosen for a lane, or nil if there are none.
func (p Picks) Lane(l Lane) []protocol.MarketID {
	for i := range p {
		if p[i].Lane == l {
			return p[i].Markets
		}
	}
	return nil
}

// Pick chooses the best airable markets that match the query. For each lane, it returns at most as many as the spec allows, in
// the order of the preset. It does not sort the pool, because it chooses few markets from many. It returns nil if pool is nil.
func (q *Query) Pick(pool *Pool, now time.Time) Picks {
	if pool == nil {
		return nil
	}
	limits := q.limits(now.UnixMilli())
	var best [len(laneTable)][]*Market
	for i := range pool.Markets {
		m := &pool.Markets[i]
		if !limits.admits(m) || !m.Airable(now) {
			continue
		}
		best[m.lane] = q.insert(best[m.lane], m)
	}
	picks := make(Picks, 0, len(laneTable))
	for i, markets := range best {
		if len(markets) == 0 {
			continue
		}
		ids := make([]protocol.MarketID, len(markets))
		for j, m := range markets {
			ids[j] = m.ID
		}
		picks = append(picks, LanePick{Lane: laneTable[i].lane, Markets: ids})
	}
	return picks
}

// insert inserts a market into the sorted list of the best markets of a lane. If the list is full, the worst market is dropped.
func (q *Query) insert(best []*Market, m *Market) []*Market {
	if n := len(best); n == q.Spec.top {
		if q.Preset.compare(m, best[n-1]) >= 0 {
			return best
		}
		best = best[:n-1]
	} else if best == nil {
		best = make([]*Market, 0, q.Spec.top)
	}
	at, _ := slices.BinarySearchFunc(best, m, q.Preset.compare)
	return slices.Insert(best, at, m)
}

// stillAirable reports whether all chosen markets may still air at the time now.
func (p Picks) stillAirable(pool *Pool, now time.Time) bool {
	for i := range p {
		for _, id := range p[i].Markets {
			if m := pool.Find(id); m == nil || !m.Airable(now) {
				return false
			}
		}
	}
	return true
}
