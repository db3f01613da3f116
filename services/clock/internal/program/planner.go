package program

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// planFresh is the maximum age of the cached markets from which a rundown may be planned.
const planFresh = 30 * time.Second

// priceFresh is the maximum delay after the start of an airing at which a price is accepted as the price at the start. It is also
// the maximum age of the cached markets that provide this price.
const priceFresh = 60 * time.Second

// Airing is a content segment that has started, on a stored channel.
type Airing struct {
	SegmentID string
	Channel   string
	Lane      Lane
	Slot      Slot
	Market    protocol.MarketID
	Title     string
	StartedAt time.Time
	EndedAt   time.Time
	Yes       protocol.Bps // price at the start; NoPrice: it was not read in time
}

// Planner loads the rundown of a stored channel into memory. The Planner of the leader also fills the rundown.
type Planner struct {
	channel string
	store   Store
	markets *atomic.Pointer[Pool]
	rundown *atomic.Pointer[Rundown]
	query   Query
	now     func() time.Time
}

// NewPlanner returns a Planner for the default channel. lanes are the lanes of this channel.
func NewPlanner(store Store, copies *Copies, lanes []Lane, now func() time.Time) *Planner {
	return &Planner{
		channel: DefaultChannel, store: store, markets: &copies.Markets, rundown: &copies.Rundown,
		query: NewQuery(Default, Spec{}, nil, lanes), now: now,
	}
}

// Load loads the rundown from the store into memory. If the load fails, the last loaded rundown remains in use.
func (p *Planner) Load(ctx context.Context) error {
	now := p.now()
	_, err := p.load(ctx, SlotAt(now), now)
	return err
}

// load returns the stored entries from the given slot to the last planned slot. It also replaces the rundown in memory with the
// entries from the running slot on.
func (p *Planner) load(ctx context.Context, from Slot, now time.Time) ([]Entry, error) {
	running := SlotAt(now)
	entries, err := p.store.ListSlots(ctx, p.channel, from, running+Ahead)
	if err != nil {
		return nil, fmt.Errorf("load rundown: %w", err)
	}
	shown := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if e.Slot >= running {
			shown = append(shown, e)
		}
	}
	p.rundown.Store(&Rundown{Entries: shown, LoadedAt: now, Version: versionOf(shown)})
	return entries, nil
}

// versionOf returns a hash of the entries. It ignores the times when the slots were filled.
func versionOf(entries []Entry) uint64 {
	h := fnv.New64a()
	for i := range entries {
		e := &entries[i]
		_, _ = fmt.Fprintf(h, "%s|%d|%s|%q|%s|%d\n", e.Lane, e.Slot, e.Market, e.Title, e.EventKey, e.End)
	}
	return h.Sum64()
}

// Filled is the result of Planner.Fill: the number of changed slots, and the airings that have started, including those that are
// already stored.
type Filled struct {
	Changed int
	Airings []Airing
}

// Fill updates the stored rundown and returns the airings that have started. Only the leader may call it, and only from one
// goroutine. If the cached markets are missing or older than planFresh, Fill changes no slot, because the state of the markets is
// unknown.
func (p *Planner) Fill(ctx context.Context) (Filled, error) {
	var done Filled
	now := p.now()
	from := SlotAt(now) - Ahead
	entries, err := p.load(ctx, from, now)
	if err != nil {
		return done, err
	}
	pool := p.markets.Load()
	if pool != nil && now.Sub(pool.FetchedAt) <= planFresh {
		if changes := Plan(&p.query, pool, entries, now); len(changes) > 0 {
			if done.Changed, err = p.store.ApplySlots(ctx, p.channel, changes, now); err != nil {
				return done, fmt.Errorf("apply rundown: %w", err)
			}
			if entries, err = p.load(ctx, from, now); err != nil {
				return done, err
			}
		}
	}
	done.Airings = airingsOf(p.channel, entries, pool, now)
	return done, nil
}

// airingsOf returns an airing for each entry whose content has started. It sets the price only if the content started at most
// priceFresh ago and the pool is at most priceFresh old, because a later price is not the price at the start.
func airingsOf(channel string, entries []Entry, pool *Pool, now time.Time) []Airing {
	var out []Airing
	for i := range entries {
		e := &entries[i]
		start := e.Slot.Content()
		if start.After(now) {
			continue
		}
		a := Airing{
			SegmentID: SegmentID(channel, e.Lane, e.Slot, Content), Channel: channel, Lane: e.Lane, Slot: e.Slot,
			Market: e.Market, Title: e.Title, StartedAt: start, EndedAt: e.Slot.End(), Yes: NoPrice,
		}
		if m := pool.Find(e.Market); m != nil && now.Sub(start) <= priceFresh && now.Sub(pool.FetchedAt) <= priceFresh {
			a.Yes = m.Yes
		}
		out = append(out, a)
	}
	return out
}

// Needed returns the markets of the running slot and of future slots, without duplicates. The copy of these markets must be
// refreshed even if they are no longer airable.
func (p *Planner) Needed() []protocol.MarketID {
	r := p.rundown.Load()
	if r == nil {
		return nil
	}
	running := SlotAt(p.now())
	var out []protocol.MarketID
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Slot >= running {
			out = append(out, e.Market)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
