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

func newWorld(seed uint64, size int, now time.Time) *world.World {
	return world.New(seed, size, nil, func() time.Time { return now })
}

func TestInventedMarketsDependOnSeedAndTimeOnly(t *testing.T) {
	t.Parallel()
	one, again, other := newWorld(5, 1000, noon), newWorld(5, 1000, noon), newWorld(6, 1000, noon)
	open, same := 0, 0
	one.Each(func(m *world.Market) bool {
		a, _ := one.Get(m.ID)
		b, ok := again.Get(m.ID)
		if !ok || a.Question != b.Question || a.Price != b.Price || a.Path(noon.Unix()+420) != b.Path(noon.Unix()+420) {
			t.Fatalf("market %d is %q at %s and %q at %s with one seed", m.ID, a.Question, a.Price, b.Question, b.Price)
		}
		if c, _ := other.Get(m.ID); c.Question == m.Question {
			same++
		}
		if m.State == world.Open && m.End.After(noon) {
			open++
		}
		if m.Price <= 0 || m.Price >= world.One || len(m.Tags) == 0 || len(m.Labels) != 2 {
			t.Errorf("market %d is not complete: %+v", m.ID, m)
		}
		return true
	})
	if open < 1000 || open > 1010 || same > 100 {
		t.Errorf("%d open markets, %d of which another seed has too; want 1000 to 1010 and few", open, same)
	}
}

func TestAnInventedMarketPassesThroughItsStates(t *testing.T) {
	t.Parallel()
	stages := map[world.State]int{world.Open: 0, world.Proposed: 1, world.Disputed: 2, world.Resolved: 3}
	states, outcomes := map[world.State]int{}, map[world.Outcome]int{}
	later := map[time.Duration]*world.World{}
	present := newWorld(9, 600, noon)
	present.Each(func(m *world.Market) bool {
		if m.State != world.Open || !m.End.After(noon) || m.End.Sub(noon) > 7*24*time.Hour {
			return true
		}
		stage := 0
		for _, after := range []time.Duration{time.Second, 90 * time.Second, 20 * time.Minute, 3 * time.Hour, 9000 * time.Hour} {
			at := m.End.Add(after).Sub(noon)
			if later[at] == nil {
				later[at] = newWorld(9, 600, noon.Add(at))
			}
			now, ok := later[at].Get(m.ID)
			if !ok || stages[now.State] < stage || now.State == world.Resolved && !now.Outcome.Valid() {
				t.Fatalf("market %d is %s %q %v after its end (found %v)", m.ID, now.State, now.Outcome, after, ok)
			}
			stage = stages[now.State]
			states[now.State]++
			outcomes[now.Outcome]++
		}
		if stage != stages[world.Resolved] {
			t.Errorf("market %d is not resolved in the end", m.ID)
		}
		return true
	})
	if len(states) != 4 || outcomes[world.Yes] == 0 || outcomes[world.No] == 0 {
		t.Errorf("states %v, outcomes %v", states, outcomes)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	price, earlier := world.Price(250_000), noon.Add(-time.Hour)
	w := newWorld(1, 10, noon)
	id := w.Create(world.Market{Question: "Will it rain?", Labels: []string{"No", "Yes"}, Price: 400_000, End: noon.Add(time.Hour)})
	if err := w.Change(id+1, world.Change{Price: &price}); !errors.Is(err, world.ErrNotFound) {
		t.Errorf("change of an unknown market: %v", err)
	}
	if err := w.Change(id, world.Change{Status: world.Status{State: world.Resolved}}); !errors.Is(err, world.ErrNoOutcome) {
		t.Errorf("resolved without an outcome: %v", err)
	}
	to := func(state world.State, outcome world.Outcome, closedAt time.Time) world.Change {
		ends := state == world.Closed || state == world.Resolved
		return world.Change{Status: world.Status{State: state, Outcome: outcome, ClosedAt: closedAt}, EndsTrading: ends}
	}
	for _, step := range []struct {
		name   string
		change world.Change
		want   string // state, outcome, prices and the end of trading
	}{
		{"proposed", to(world.Proposed, world.No, time.Time{}), "proposed NO [0.9995 0.0005] 13:00"},
		{"resolved with the proposed outcome", to(world.Resolved, "", time.Time{}), "resolved NO [1 0] 12:00"},
		{"open again", to(world.Open, "", time.Time{}), "open  [0.6 0.4] 13:00"},
		{"repriced", world.Change{Price: &price}, "open  [0.75 0.25] 13:00"},
		{"book", world.Change{Book: &world.Top{Bid: 290_000, Ask: 310_000}}, "open  [0.7 0.3] 13:00"},
		{"closed before the new prices", to(world.Closed, "", earlier), "closed  [0.6 0.4] 11:00"},
		{"void", to(world.Resolved, world.Invalid, time.Time{}), "resolved INVALID [0.5 0.5] 11:00"},
	} {
		if err := w.Change(id, step.change); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		m, _ := w.Get(id)
		end := noon.Add(time.Hour)
		if at := m.Ended(); m.Finished() {
			end = at
		}
		if got := fmt.Sprintf("%s %s %v %s", m.State, m.Outcome, m.Prices(), end.Format("15:04")); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

func TestIdentifiersFindTheirMarket(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 100, noon)
	first := w.Create(world.Market{Question: "Ochre", Labels: []string{"Yes", "No"}, Event: world.Event{Title: "Who wins?"}})
	second := w.Create(world.Market{Question: "Umber", Labels: []string{"Yes", "No"}, Event: world.Event{Title: "Who wins?"}})
	if list := w.Members(first); len(list) != 2 || list[1].ID != second || list[1].EventIndex != 1 {
		t.Errorf("members of the event: %v", list)
	}
	w.Each(func(m *world.Market) bool {
		full, _ := w.Get(m.ID)
		for _, key := range append(full.Tokens, full.ConditionID, full.Slug) {
			if got, ok := w.Find(key); !ok || got.ID != m.ID {
				t.Errorf("%s finds market %d (%v), want %d", key, got.ID, ok, m.ID)
			}
			if _, ok := w.Find(key + "0"); ok {
				t.Errorf("%s0 finds a market", key)
			}
		}
		return true
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 100, noon)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 50 {
				id, p := w.Create(world.Market{Question: "q", Labels: []string{"Yes", "No"}}), world.Price(i)
				if err := w.Change(id, world.Change{Price: &p}); err != nil {
					t.Error(err)
				}
				if m, ok := w.Get(id); !ok || m.Price != p {
					t.Errorf("market %d has price %s (found %v), want %s", id, m.Price, ok, p)
				}
				w.Each(func(*world.Market) bool { return i%10 == 0 })
			}
		})
	}
	wait.Wait()
}

// TestNumbersOfManyMarkets checks that every market of the largest world can be read, also decades later: its number must stay
// below the numbers of created markets.
func TestNumbersOfManyMarkets(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 100_000, time.Date(2076, 1, 1, 0, 0, 0, 0, time.UTC))
	highest, n := int64(0), 0
	w.Each(func(m *world.Market) bool {
		if n++; n > 2000 {
			return false
		}
		if got, ok := w.Get(m.ID); !ok || got.ID != m.ID || m.Created() {
			t.Fatalf("market %d of the list is not found (%t) or counts as created (%t)", m.ID, ok, m.Created())
		}
		highest = max(highest, m.ID)
		return true
	})
	if highest < 10_000_000_000 {
		t.Errorf("the highest number is %d; the test does not reach large numbers", highest)
	}
}
