package world_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

type empty struct{}

func (empty) Get(int64, time.Time) (world.Market, bool) { return world.Market{}, false }
func (empty) Range(time.Time, func(world.Market) bool)  {}
func (empty) Lookup(string) (int64, bool)               { return 0, false }

func newWorld() *world.World {
	return world.New(empty{}, 1, func() time.Time { return noon })
}

func draft(i int) world.Draft {
	return world.Draft{Question: fmt.Sprintf("Will number %d come up?", i), Outcomes: []string{"Yes", "No"}, Price: 400_000, Volume: 10}
}

func TestIdentifiersCanBeReadBack(t *testing.T) {
	t.Parallel()
	g := world.IDs{Seed: 11}
	for _, id := range []int64{1, 2_000_000, 999_999_999, world.FirstCreated, 1 << 40} {
		for side := range 2 {
			token := g.Token(id, side)
			if len(token) < 75 || len(token) > 77 {
				t.Errorf("token of %d digits", len(token))
			}
			if back, s, ok := g.FromToken(token); !ok || back != id || s != side {
				t.Errorf("token of %d reads as %d side %d %v", id, back, s, ok)
			}
			if _, _, ok := (world.IDs{Seed: 12}).FromToken(token); ok {
				t.Error("a token of another seed was read")
			}
		}
		if back, ok := g.FromCondition(g.Condition(id)); !ok || back != id {
			t.Errorf("condition of %d reads as %d %v", id, back, ok)
		}
	}
	for _, bad := range []string{"", "7", "0x", "abc", g.Token(5, 0) + "1", g.Condition(5)[:60]} {
		if _, ok := g.FromCondition(bad); ok {
			t.Errorf("%q was read as a condition", bad)
		}
		if _, _, ok := g.FromToken(bad); ok {
			t.Errorf("%q was read as a token", bad)
		}
	}
}

func TestPricesOfOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcomes []string
		state    world.State
		verdict  world.Verdict
		want     string
	}{
		{[]string{"Yes", "No"}, world.Open, "", "[0.4 0.6]"},
		{[]string{"No", "Yes"}, world.Open, "", "[0.6 0.4]"},
		{[]string{"No", "YES"}, world.Resolved, world.Yes, "[0 1]"},
		{[]string{"Ochre", "Umber"}, world.Resolved, world.No, "[0 1]"},
		{[]string{"Ochre", "Umber"}, world.Resolved, world.Invalid, "[0.5 0.5]"},
		{[]string{"a", "b", "c"}, world.Open, "", "[0.4 0.3 0.3]"},
	} {
		m := world.Market{Outcomes: c.outcomes, State: c.state, Verdict: c.verdict, Price: 400_000}
		if got := fmt.Sprint(m.Prices()); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.outcomes, c.verdict, got, c.want)
		}
	}
}

func TestChangesFollowTheLifeOfAMarket(t *testing.T) {
	t.Parallel()
	w := newWorld()
	id, err := w.Create(draft(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Change(id+1, world.Change{State: world.Closed}); !errors.Is(err, world.ErrNoMarket) {
		t.Errorf("unknown market: %v", err)
	}
	if err := w.Change(id, world.Change{State: world.Resolved}); !errors.Is(err, world.ErrNoVerdict) {
		t.Errorf("resolved without verdict: %v", err)
	}
	if err := w.Change(id, world.Change{State: world.Proposed, Verdict: world.No}); err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Get(id); m.State != world.Proposed || m.Finished() || m.Price != 500 {
		t.Errorf("proposed: %+v", m)
	}
	if err := w.Change(id, world.Change{State: world.Resolved}); err != nil { // the proposed outcome stands
		t.Fatal(err)
	}
	if m, _ := w.Get(id); m.Verdict != world.No || !m.Finished() || m.ChangedAt != noon {
		t.Errorf("resolved: %+v", m)
	}
	if err := w.Change(id, world.Change{State: world.Open}); err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Get(id); m.State != world.Open || m.Verdict != "" || m.Price != 400_000 {
		t.Errorf("open again: %+v", m)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	const workers, each = 16, 250
	var group sync.WaitGroup
	for n := range workers {
		group.Go(func() {
			for i := range each {
				id, err := w.Create(draft(n*each + i))
				if err != nil {
					t.Error(err)
					return
				}
				p := world.Micros(i)
				if err := w.Change(id, world.Change{Price: &p}); err != nil {
					t.Error(err)
				}
				if m, ok := w.Get(id); !ok || m.Price != p {
					t.Errorf("market %d: %v %v", id, ok, m.Price)
				}
				if i%50 == 0 {
					w.Range(func(world.Market) bool { return true })
				}
			}
		})
	}
	group.Wait()
	seen := map[int64]bool{}
	w.Range(func(m world.Market) bool { seen[m.ID] = true; return true })
	if len(seen) != workers*each {
		t.Errorf("%d markets, want %d", len(seen), workers*each)
	}
}

func TestSlugsAreAddresses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"Will A/B win?": "will-a-b-win", "  ": "market", "Ćevapi — 50%": "evapi-50"} {
		if got := world.Slug(in, 40); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
