package program

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// Ahead is the number of slots after the running slot up to which a stored rundown is filled.
	Ahead = 36
	// lookBack is the maximum number of slots before a slot whose markets the slot must not repeat.
	lookBack = 6
	// lockMargin is the time before the start of a slot within which a plan does not change the slot. The database rejects
	// changes of a started slot, and its clock may be ahead of the clock of this process.
	lockMargin = 15 * time.Second
)

// Entry is a stored slot of a lane with its market. It contains enough data to show the market when the ledger is unavailable.
type Entry struct {
	Lane     Lane
	Slot     Slot
	Market   protocol.MarketID
	Title    string
	EventKey string // empty: none
	End      int64  // end of the market in Unix milliseconds; 0: none
	Filled   int64  // time when the slot was filled, in Unix milliseconds; 0: not known
}

// Change is a change of one slot: the market of Entry replaces the market Old. An empty Old means that the slot was empty. An
// empty Entry.Market clears the slot.
type Change struct {
	Entry
	Old protocol.MarketID
}

// Plan returns the changes that fill the lanes of the query, from the running slot to the slot that is Ahead slots later. The
// parameter present contains the stored entries.
//
// Plan does not change a filled slot that has started or starts within lockMargin. It fills the running slot if the slot is
// empty, so that a new service has a programme immediately. It refills a future slot whose market may no longer air. If no market
// can replace it, Plan clears the slot only if it is the next slot. Otherwise, a minute without prices would clear six hours of
// programme.
//
// For a slot, Plan takes the first chosen market that the lane does not use in the min(n-1, 6) slots before the slot. If
// possible, it also avoids the markets in the same number of slots after the slot. n is the number of chosen markets that may
// still air when the slot starts.
//
// Plan does not change a slot that was filled after the pool was fetched, because the pool may not contain the market of that
// slot. A director on another replica can fill a slot with a market that is newer than the pool.
//
// The query of a channel can change. Plan therefore also refills future slots whose market belongs to an excluded provider, and
// clears future slots of lanes that the query no longer has.
func Plan(q *Query, pool *Pool, present []Entry, now time.Time) []Change {
	picks := q.Pick(pool, now)
	byLane := make(map[Lane]map[Slot]Entry)
	for _, e := range present {
		if byLane[e.Lane] == nil {
			byLane[e.Lane] = make(map[Slot]Entry)
		}
		byLane[e.Lane][e.Slot] = e
	}
	var out []Change
	for _, lane := range q.Lanes() {
		p := lanePlanner{query: q, pool: pool, lane: lane, entries: byLane[lane], now: now}
		if p.entries == nil {
			p.entries = make(map[Slot]Entry)
		}
		for _, id := range picks.Lane(lane) {
			p.picked = append(p.picked, pool.Find(id))
		}
		out = p.run(out)
	}
	return append(out, clearUnusedLanes(q, present, now)...)
}

// clearUnusedLanes returns changes that clear the slots of lanes that the query does not have. It leaves locked slots unchanged.
func clearUnusedLanes(q *Query, present []Entry, now time.Time) []Change {
	lanes := q.Lanes()
	var out []Change
	for i := range present {
		if e := &present[i]; !locked(e.Slot, now) && !slices.Contains(lanes, e.Lane) {
			out = append(out, Change{Entry: Entry{Lane: e.Lane, Slot: e.Slot}, Old: e.Market})
		}
	}
	return out
}

// lanePlanner plans the slots of one lane.
type lanePlanner struct {
	query   *Query
	pool    *Pool
	lane    Lane
	picked  []*Market      // markets for the lane, best first
	entries map[Slot]Entry // entries of the lane
	now     time.Time
}

func (p *lanePlanner) run(out []Change) []Change {
	running := SlotAt(p.now)
	for k := running; k <= running+Ahead; k++ {
		old, present := p.entries[k]
		newer := old.Filled > p.pool.FetchedAt.UnixMilli()
		if present && (newer || locked(k, p.now) || p.keeps(p.pool.Find(old.Market), k)) {
			continue
		}
		m := p.choose(k)
		switch {
		case m != nil:
			p.entries[k] = Entry{Lane: p.lane, Slot: k, Market: m.ID, Title: m.Title, EventKey: m.EventKey, End: m.End}
			out = append(out, Change{Entry: p.entries[k], Old: old.Market})
		case present && k == running+1:
			delete(p.entries, k)
			out = append(out, Change{Entry: Entry{Lane: p.lane, Slot: k}, Old: old.Market})
		}
	}
	return out
}

// locked reports whether the slot has started or starts within lockMargin. Plan must not change the market of such a slot.
func locked(k Slot, now time.Time) bool { return !k.Start().After(now.Add(lockMargin)) }

// keeps reports whether slot k may keep its market m: m may air in the slot and belongs to a provider of the query. It ignores
// the lane of m, because a director may assign a market to any lane.
func (p *lanePlanner) keeps(m *Market, k Slot) bool {
	return airableAt(m, k) && (len(p.query.Providers) == 0 || slices.Contains(p.query.Providers, m.Provider))
}

// airableAt reports whether the market may air when the slot starts. It returns false if m is nil.
func airableAt(m *Market, k Slot) bool {
	return m != nil && m.Airable(k.Start())
}

// choose returns the best market for slot k, or nil if there is none. The lane must not use the market in the slots before k
// and, if possible, in the slots after k. choose compares at most lookBack slots on each side.
func (p *lanePlanner) choose(k Slot) *Market {
	fit := make([]*Market, 0, len(p.picked))
	for _, m := range p.picked {
		if airableAt(m, k) {
			fit = append(fit, m)
		}
	}
	back := Slot(min(len(fit)-1, lookBack))
	var before, around []protocol.MarketID
	for d := Slot(1); d <= back; d++ {
		before = append(before, p.entries[k-d].Market)
		around = append(around, p.entries[k-d].Market, p.entries[k+d].Market)
	}
	if m := firstUnused(fit, around); m != nil {
		return m
	}
	return firstUnused(fit, before)
}

func firstUnused(markets []*Market, used []protocol.MarketID) *Market {
	for _, m := range markets {
		if !slices.Contains(used, m.ID) {
			return m
		}
	}
	return nil
}
