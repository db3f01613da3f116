package program

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// Ahead is how many slots after the running one a stored rundown holds.
	Ahead = 36
	// lookBack is over how many slots of a lane a market is not repeated.
	lookBack = 6
	// lockMargin keeps hands off a slot that is about to start, so that a
	// clock a little slow never asks the database to change a started one.
	lockMargin = 15 * time.Second
)

// Entry is one stored slot of a lane. It keeps what is needed to show the
// market when the ledger is away.
type Entry struct {
	Lane     Lane
	Slot     Slot
	Market   protocol.MarketID
	Title    string
	EventKey string // empty: none
	End      int64  // unix milliseconds, 0: none
	Filled   int64  // when the slot was filled, unix milliseconds; 0: not known
}

// Change is one step of a plan: Entry takes the slot, in place of Old when
// that is not empty. An empty Entry.Market clears the slot.
type Change struct {
	Entry
	Old protocol.MarketID
}

// Plan returns the changes that fill the lanes of the query from the
// running slot to Ahead slots later.
//
// A slot that has started is never changed. The running slot is filled only
// where nothing was stored for it, so that a fresh service is on the air at
// once. A future slot whose market may not be aired any more is refilled; with
// no market to take its place it is cleared, but only when it is next, so that
// a minute without prices does not empty six hours of programme.
//
// A slot takes the first picked market that the lane did not use in its last
// min(n-1, 6) slots and, where there is a choice, does not use in as many
// slots after it; n counts the picked markets that may still be aired when the
// slot starts.
//
// A slot that was filled after the pool was read is not changed, because its market may be missing in the pool: a director on
// another replica can fill a slot with a market that is newer than the pool.
//
// A channel may change: a future slot whose market is of a provider that the query
// no longer takes is refilled as well, and those of a lane that it no longer has are
// cleared.
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
		p := planner{query: q, pool: pool, lane: lane, entries: byLane[lane], now: now}
		if p.entries == nil {
			p.entries = make(map[Slot]Entry)
		}
		for _, id := range picks.Lane(lane) {
			p.picked = append(p.picked, pool.Find(id))
		}
		out = p.run(out)
	}
	return append(out, strangers(q, present, now)...)
}

// strangers clears coming slots of lanes that the query does not have.
func strangers(q *Query, present []Entry, now time.Time) []Change {
	lanes := q.Lanes()
	var out []Change
	for i := range present {
		if e := &present[i]; !locked(e.Slot, now) && !slices.Contains(lanes, e.Lane) {
			out = append(out, Change{Entry: Entry{Lane: e.Lane, Slot: e.Slot}, Old: e.Market})
		}
	}
	return out
}

type planner struct {
	query   *Query
	pool    *Pool
	lane    Lane
	picked  []*Market      // of the lane, best first
	entries map[Slot]Entry // of the lane
	now     time.Time
}

func (p *planner) run(out []Change) []Change {
	running := SlotAt(p.now)
	for k := running; k <= running+Ahead; k++ {
		old, present := p.entries[k]
		newer := old.Filled > p.pool.FetchedAt.UnixMilli()
		if present && (newer || locked(k, p.now) || p.stays(p.pool.Find(old.Market), k)) {
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

// locked reports a slot that has started or is about to.
func locked(k Slot, now time.Time) bool { return !k.Start().After(now.Add(lockMargin)) }

// stays reports a market that may keep the slot. Its lane is not asked for: a director
// may put a market into any.
func (p *planner) stays(m *Market, k Slot) bool {
	return airableAt(m, k) && (len(p.query.Providers) == 0 || slices.Contains(p.query.Providers, m.Provider))
}

// airableAt reports a market that may be aired when the slot starts.
func airableAt(m *Market, k Slot) bool {
	return m != nil && m.Airable(k.Start())
}

func (p *planner) choose(k Slot) *Market {
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
