package universe_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/universe"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

func all(u *universe.Universe, now time.Time) map[int64]world.Market {
	out := map[int64]world.Market{}
	u.Range(now, func(m world.Market) bool { out[m.ID] = m; return true })
	return out
}

func TestOneSeedGivesOneUniverse(t *testing.T) {
	t.Parallel()
	a, b, other := all(universe.New(5), noon), all(universe.New(5), noon), all(universe.New(6), noon)
	same := 0
	for id, m := range a {
		n, ok := b[id]
		if !ok {
			t.Fatalf("market %d is in one of two universes", id)
		}
		later := noon.Add(7 * time.Minute).Unix()
		if !m.Placeholder && m.Path(later) != n.Path(later) {
			t.Fatalf("market %d: two prices for one moment", id)
		}
		m.Path, n.Path = nil, nil
		if !reflect.DeepEqual(m, n) {
			t.Fatalf("market %d differs:\n%+v\n%+v", id, m, n)
		}
		if o, ok := other[id]; ok && o.Question == m.Question {
			same++
		}
	}
	if same > len(a)/20 {
		t.Errorf("%d of %d questions are the same under another seed", same, len(a))
	}
}

func TestOpenMarketsEndBetweenMinutesAndMonthsAhead(t *testing.T) {
	t.Parallel()
	var open, withinHour, beyondMonth, teams, upDown, placeholders int
	events := map[string]int{}
	for _, m := range all(universe.New(1), noon) {
		if m.State != world.Open || !m.End.After(noon) {
			continue
		}
		open++
		events[m.Event.ID]++
		left := m.End.Sub(noon)
		if left < time.Hour {
			withinHour++
		}
		if left > 30*24*time.Hour {
			beyondMonth++
		}
		if left > 200*24*time.Hour {
			t.Errorf("market %d ends in %v", m.ID, left)
		}
		switch m.Outcomes[0] {
		case "Up":
			upDown++
		case "Yes", "Over":
		default:
			teams++
		}
		if m.Placeholder {
			placeholders++
		} else if m.Price <= 0 || m.Price >= world.One {
			t.Errorf("market %d has price %s", m.ID, m.Price)
		}
		if m.ID >= world.FirstCreated || len(m.Tags) == 0 || m.Question == "" {
			t.Errorf("market %d is not complete: %+v", m.ID, m)
		}
	}
	several := 0
	for _, n := range events {
		if n > 1 {
			several++
		}
	}
	if open < universe.Size || open > universe.Size+20 {
		t.Errorf("%d open markets", open)
	}
	for name, n := range map[string]int{"ending within the hour": withinHour, "ending beyond a month": beyondMonth, "with teams": teams, "Up/Down": upDown, "placeholders": placeholders, "events of several": several} {
		if n < 10 {
			t.Errorf("only %d %s", n, name)
		}
	}
}

func TestVolumesAreHeavyTailed(t *testing.T) {
	t.Parallel()
	var sum, most float64
	var n int
	for _, m := range all(universe.New(3), noon) {
		sum, most, n = sum+m.Volume, max(most, m.Volume), n+1
	}
	if mean := sum / float64(n); most < 100*mean {
		t.Errorf("largest volume %.0f is not far above the mean %.0f", most, mean)
	}
}

func TestAMarketLivesThroughItsStates(t *testing.T) {
	t.Parallel()
	u := universe.New(9)
	seen := map[world.State]int{}
	var yes, no, invalid int
	for id, m := range all(u, noon) {
		if m.State != world.Open || m.End.Before(noon) || m.Placeholder {
			continue
		}
		last := world.Open
		for _, after := range []time.Duration{time.Second, 90 * time.Second, 20 * time.Minute, 3 * time.Hour, 9000 * time.Hour} {
			now, ok := u.Get(id, m.End.Add(after))
			if !ok {
				t.Fatalf("market %d is forgotten %v after its end", id, after)
			}
			if rank[now.State] < rank[last] {
				t.Fatalf("market %d went from %s back to %s", id, last, now.State)
			}
			last = now.State
			seen[last]++
			if last == world.Resolved && !now.Verdict.Known() {
				t.Fatalf("market %d is resolved without a verdict", id)
			}
			m.Verdict = now.Verdict
		}
		if last != world.Resolved {
			t.Fatalf("market %d ends as %s", id, last)
		}
		switch m.Verdict {
		case world.Yes:
			yes++
		case world.No:
			no++
		default:
			invalid++
		}
	}
	for _, s := range []world.State{world.Open, world.Proposed, world.Disputed, world.Resolved} {
		if seen[s] == 0 {
			t.Errorf("no market was ever %s", s)
		}
	}
	if yes < 500 || no < 500 || invalid < 5 || invalid > 100 {
		t.Errorf("%d YES, %d NO, %d INVALID", yes, no, invalid)
	}
}

var rank = map[world.State]int{world.Open: 0, world.Proposed: 1, world.Disputed: 2, world.Resolved: 3}

func TestTheFutureIsUnknown(t *testing.T) {
	t.Parallel()
	u := universe.New(2)
	later := noon.Add(300 * 24 * time.Hour)
	fresh := 0
	for id := range all(u, later) {
		if _, known := u.Get(id, noon); !known {
			fresh++
		}
	}
	if fresh < universe.Size {
		t.Errorf("only %d markets of 300 days later are new", fresh)
	}
}
