package program

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func apply(entries []Entry, changes []Change) []Entry {
	out := slices.Clone(entries)
	for _, c := range changes {
		out = slices.DeleteFunc(out, func(e Entry) bool { return e.Lane == c.Lane && e.Slot == c.Slot })
		if c.Market != "" {
			out = append(out, c.Entry)
		}
	}
	return out
}

func bySlot(entries []Entry, lane Lane) map[Slot]protocol.MarketID {
	out := make(map[Slot]protocol.MarketID)
	for _, e := range entries {
		if e.Lane == lane {
			out[e.Slot] = e.Market
		}
	}
	return out
}

func sportsPool(n int, end time.Duration) *Pool {
	markets := make([]Market, n)
	for i := range markets {
		markets[i] = market(fmt.Sprint(i+1), in("sports"), ends(end+time.Duration(i)*time.Minute))
	}
	return poolOf(markets...)
}

func TestPlanFillsSixHours(t *testing.T) {
	t.Parallel()
	q := query(t, Default, "")
	changes := Plan(q, sportsPool(3, 100*time.Hour), nil, noon)
	got := bySlot(apply(nil, changes), "sports")
	if len(changes) != Ahead+1 || len(got) != Ahead+1 {
		t.Fatalf("%d changes, %d slots, want %d", len(changes), len(got), Ahead+1)
	}
	for d := range Slot(Ahead + 1) {
		want := protocol.MarketID(fmt.Sprint(d%3 + 1)) // three markets alternate
		if got[SlotAt(noon)+d] != want {
			t.Errorf("slot +%d airs %q, want %q", d, got[SlotAt(noon)+d], want)
		}
	}
	if left := Plan(q, sportsPool(3, 100*time.Hour), apply(nil, changes), noon); len(left) != 0 {
		t.Errorf("a second plan changes a full rundown: %v; want no changes", left)
	}
}

// TestPlanLooksBackSixSlots plans with ten markets. Only seven of them alternate, because a market may air again after six other
// slots.
func TestPlanLooksBackSixSlots(t *testing.T) {
	t.Parallel()
	got := bySlot(apply(nil, Plan(query(t, Default, ""), sportsPool(10, 100*time.Hour), nil, noon)), "sports")
	for d := range Slot(Ahead + 1) {
		if want := protocol.MarketID(fmt.Sprint(d%7 + 1)); got[SlotAt(noon)+d] != want {
			t.Errorf("slot +%d airs %q, want %q", d, got[SlotAt(noon)+d], want)
		}
	}
}

func TestPlanOneMarket(t *testing.T) {
	t.Parallel()
	changes := Plan(query(t, Default, ""), sportsPool(1, 100*time.Hour), nil, noon)
	if len(changes) != Ahead+1 {
		t.Fatalf("one market fills %d slots, want %d", len(changes), Ahead+1)
	}
}

func TestPlanEndsWithItsMarkets(t *testing.T) {
	t.Parallel()
	for _, c := range Plan(query(t, Default, ""), sportsPool(2, 90*time.Minute), nil, noon) {
		if end := c.Slot.Start().Add(airableAhead); end.UnixMilli() >= c.End {
			t.Errorf("slot at %s airs a market that ends at %s", c.Slot.Start(), time.UnixMilli(c.End).UTC())
		}
	}
}

func TestPlanRefillsFutureOnly(t *testing.T) {
	t.Parallel()
	q := query(t, Default, "")
	running := SlotAt(noon)
	pool := sportsPool(4, 100*time.Hour)
	entries := apply(nil, Plan(q, pool, nil, noon))
	pool.Markets[0].Status = protocol.MarketClosed // market 1, which is on the air
	changes := Plan(q, pool, entries, noon)
	if len(changes) == 0 {
		t.Fatal("no slot is refilled after its market closed")
	}
	for _, c := range changes {
		if c.Slot <= running || c.Old != "1" || c.Market == "" || c.Market == "1" {
			t.Errorf("change %+v; want a future slot of market 1 with another market", c)
		}
	}
	got := bySlot(apply(entries, changes), "sports")
	if got[running] != "1" {
		t.Errorf("the running slot airs %q; want 1, because it has started", got[running])
	}
	for k, id := range got {
		if k > running && id == "1" {
			t.Errorf("slot %d still airs the closed market", k)
		}
	}
}

func TestPlanClearsOnlyTheNextSlot(t *testing.T) {
	t.Parallel()
	q := query(t, Default, "")
	running := SlotAt(noon)
	entries := apply(nil, Plan(q, sportsPool(2, 100*time.Hour), nil, noon))
	changes := Plan(q, poolOf(), entries, noon)
	if len(changes) != 1 || changes[0].Slot != running+1 || changes[0].Market != "" || changes[0].Old == "" {
		t.Fatalf("changes %+v, want the next slot cleared", changes)
	}
	late := (running + 1).Start().Add(-lockMargin)
	if changes := Plan(q, poolOf(), entries, late); len(changes) != 0 {
		t.Fatalf("the plan changes a slot that starts within lockMargin: %+v", changes)
	}
	for i := range entries {
		entries[i].Filled = noon.UnixMilli() + 1
	}
	if changes := Plan(q, poolOf(), entries, noon); len(changes) != 0 {
		t.Fatalf("the plan changes a slot that was filled after the pool was read: %+v", changes)
	}
}

func TestPlanInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := NewQuery(Default, Spec{}, nil, DefaultLanes())
		now := noon
		var entries []Entry
		for range rapid.IntRange(1, 5).Draw(t, "rounds") {
			pool := drawPool(t)
			changes := Plan(&q, pool, entries, now)
			after := apply(entries, changes)
			checkChanges(t, changes, entries, pool, now)
			checkRepeats(t, changes, after, &q, pool, now)
			if again := Plan(&q, pool, after, now); len(again) != 0 {
				t.Fatalf("a second plan changes %+v; want no changes", again)
			}
			entries = after
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "seconds")) * time.Second)
		}
	})
}

func checkChanges(t *rapid.T, changes []Change, before []Entry, pool *Pool, now time.Time) {
	running := SlotAt(now)
	for _, c := range changes {
		stored, present := bySlot(before, c.Lane)[c.Slot]
		switch {
		case c.Slot < running || c.Slot > running+Ahead:
			t.Fatalf("slot %d is outside the planned slots, which start at %d", c.Slot, running)
		case present && !c.Slot.Start().After(now):
			t.Fatalf("started slot %d is changed", c.Slot)
		case c.Old != stored:
			t.Fatalf("slot %d contains %q; the plan replaces %q", c.Slot, stored, c.Old)
		case present && airableAt(pool.Find(stored), c.Slot):
			t.Fatalf("slot %d is changed although %q may still air", c.Slot, stored)
		case c.Market == "" && c.Slot != running+1:
			t.Fatalf("slot %d is cleared; only the next slot may be", c.Slot)
		case c.Market != "" && (!airableAt(pool.Find(c.Market), c.Slot) || pool.Find(c.Market).Lane != c.Lane):
			t.Fatalf("slot %d is filled with %q, which may not air in it", c.Slot, c.Market)
		}
	}
}

// checkRepeats fails the test if a changed slot repeats a market of the slots before it although another market was available.
func checkRepeats(t *rapid.T, changes []Change, after []Entry, q *Query, pool *Pool, now time.Time) {
	picks := q.Pick(pool, now)
	for _, c := range changes {
		if c.Market == "" {
			continue
		}
		n := 0
		for _, id := range picks.Lane(c.Lane) {
			if airableAt(pool.Find(id), c.Slot) {
				n++
			}
		}
		stored := bySlot(after, c.Lane)
		for d := Slot(1); d <= Slot(min(n-1, lookBack)); d++ {
			if stored[c.Slot-d] == c.Market {
				t.Fatalf("%q airs in slots %d and %d of %s although %d markets are available", c.Market, c.Slot-d, c.Slot, c.Lane, n)
			}
		}
	}
}
