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

// planFresh is how young a copy of the markets must be to plan from it.
const planFresh = 30 * time.Second

// priceFresh is how soon after its start an airing must be seen for the price
// then to count as the price at the start.
const priceFresh = 60 * time.Second

// Airing is a stored content segment that went on the air.
type Airing struct {
	SegmentID string
	Channel   string
	Lane      Lane
	Slot      Slot
	Market    protocol.MarketID
	Title     string
	StartedAt time.Time
	EndedAt   time.Time
	Yes       protocol.Bps // at the start, NoPrice: not seen in time
}

// Keeper holds a copy of a stored channel and, where it is the one that fills,
// keeps the channel filled.
type Keeper struct {
	channel string
	store   Store
	markets *atomic.Pointer[Pool]
	rundown *atomic.Pointer[Rundown]
	query   Query
	now     func() time.Time
}

// NewKeeper makes a Keeper of the default channel with its lanes.
func NewKeeper(store Store, copies *Copies, lanes []Lane, now func() time.Time) *Keeper {
	return &Keeper{
		channel: DefaultChannel, store: store, markets: &copies.Markets, rundown: &copies.Rundown,
		query: NewQuery(Default, Spec{}, nil, lanes), now: now,
	}
}

// Load reads the rundown again. If that fails, the last copy remains.
func (k *Keeper) Load(ctx context.Context) error {
	now := k.now()
	_, err := k.load(ctx, SlotAt(now), now)
	return err
}

// load publishes the running and coming entries and gives those from a slot on.
func (k *Keeper) load(ctx context.Context, from Slot, now time.Time) ([]Entry, error) {
	running := SlotAt(now)
	entries, err := k.store.ListSlots(ctx, k.channel, from, running+Ahead)
	if err != nil {
		return nil, fmt.Errorf("load rundown: %w", err)
	}
	shown := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if e.Slot >= running {
			shown = append(shown, e)
		}
	}
	k.rundown.Store(&Rundown{Entries: shown, LoadedAt: now, Version: versionOf(shown)})
	return entries, nil
}

// versionOf is a number that differs when the entries differ.
func versionOf(entries []Entry) uint64 {
	h := fnv.New64a()
	for i := range entries {
		e := &entries[i]
		_, _ = fmt.Fprintf(h, "%s|%d|%s|%q|%s|%d\n", e.Lane, e.Slot, e.Market, e.Title, e.EventKey, e.End)
	}
	return h.Sum64()
}

// Filled is what one Fill did, and what has started by now, logged or not.
type Filled struct {
	Changed int
	Airings []Airing
}

// Fill brings the stored rundown up to date. Only one replica may do so at a time.
// Without a fresh copy of the markets it changes nothing: what cannot be known is not
// refilled. One goroutine calls it.
func (k *Keeper) Fill(ctx context.Context) (Filled, error) {
	var done Filled
	now := k.now()
	from := SlotAt(now) - Ahead
	entries, err := k.load(ctx, from, now)
	if err != nil {
		return done, err
	}
	pool := k.markets.Load()
	if pool != nil && now.Sub(pool.FetchedAt) <= planFresh {
		if changes := Plan(&k.query, pool, entries, now); len(changes) > 0 {
			if done.Changed, err = k.store.ApplySlots(ctx, k.channel, changes, now); err != nil {
				return done, fmt.Errorf("apply rundown: %w", err)
			}
			if entries, err = k.load(ctx, from, now); err != nil {
				return done, err
			}
		}
	}
	done.Airings = airingsOf(k.channel, entries, pool, now)
	return done, nil
}

// airingsOf lists the content segments among the entries that have started. A
// start that nobody watched is logged without a price rather than with a later
// one.
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

// Needed lists the markets of the running and coming slots of the copy, each
// once: the ones whose state must be known even when they stop being airable.
func (k *Keeper) Needed() []protocol.MarketID {
	r := k.rundown.Load()
	if r == nil {
		return nil
	}
	running := SlotAt(k.now())
	var out []protocol.MarketID
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Slot >= running {
			out = append(out, e.Market)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
