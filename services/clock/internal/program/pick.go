package program

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Picks are the markets chosen for each lane, best first; lanes without a
// market are left out.
type Picks []LanePick

// LanePick are the markets chosen for one lane.
type LanePick struct {
	Lane    Lane
	Markets []protocol.MarketID
}

// Lane gives the markets of a lane, none when it has none.
func (p Picks) Lane(l Lane) []protocol.MarketID {
	for i := range p {
		if p[i].Lane == l {
			return p[i].Markets
		}
	}
	return nil
}

// Pick chooses the airable markets of a query: filtered, ordered, cut to the
// spec's number per lane. It is one pass that keeps the best few of each lane,
// because that number is small beside the pool.
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
		best[m.lane] = q.keep(best[m.lane], m)
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

// keep inserts a market into the ordered best ones of its lane.
func (q *Query) keep(best []*Market, m *Market) []*Market {
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

// stillAirable reports whether every picked market may still be aired.
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
