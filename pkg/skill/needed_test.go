package skill

import (
	"math"
	"testing"
)

// TestNeededMatchesAnExactSearch compares the formula of needed with a search over exact distributions for the same
// prices and edge, and with the exact power.
func TestNeededMatchesAnExactSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		list []odds
		won  int64
	}{
		{"coins +5", at(100, 5000), 55},
		{"coins +15", at(20, 5000), 13},
		{"favourites +3", at(100, 9500), 98},
		{"long shots +5", at(100, 500), 10},
		{"long shots +2", at(100, 500), 7},
		{"mixed +10", at(2, 1000, 3000, 5000, 7000, 9000), 6},
		{"both ends +3", at(50, 500, 9500), 53},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := count(c.list)
			half, sure := needed(c.list, n, c.won)
			exact := searched(c.list, c.won)
			power := exactPower(c.list, c.won, sure)
			t.Logf("%.0f, exactly %.0f; for four of five %.0f, of whom %.1f%% get there", half, exact, sure, 100*power)
			if math.Abs(half-exact) > 0.05*exact+2 {
				t.Errorf("the formula returned %.0f calls, the exact search %.0f", half, exact)
			}
			if power < 0.76 || power > 0.86 {
				t.Errorf("after %.0f calls the power is %.3f, want about 0.8", sure, power)
			}
		})
	}
}

// times returns list with all counts multiplied by one factor and rounded, so that their sum is about total.
func times(list []odds, total float64) []odds {
	out := make([]odds, len(list))
	for i, o := range list {
		out[i] = odds{o.win, o.lose, int64(math.Round(float64(o.calls) * total / float64(count(list))))}
		out[i].calls = max(out[i].calls, 1)
	}
	return out
}

// searched returns the mean of two numbers of calls: the first at which the lower end of the interval is above the
// price, and the last at which it is not. They differ because wins are integers, which makes the significance vary with
// the number of calls.
func searched(list []odds, won int64) float64 {
	share := float64(won) / float64(count(list))
	first, last := 0.0, 0.0
	for total := float64(len(list)); total < 3*(last+200); total += float64(len(list)) {
		big := times(list, total)
		mean, _ := expected(big)
		k := int64(math.Round(share * float64(count(big))))
		if float64(k) > mean && wins(big).atLeast(k) < tail {
			if first == 0 {
				first = total
			}
		} else {
			last = total
		}
	}
	return (first + last) / 2
}

// exactPower returns the share of operators with the edge of the record whose lower end is above 0 after total calls.
// It is the average over similar totals, because the value varies from total to total.
func exactPower(list []odds, won int64, total float64) float64 {
	r := fitted(list, count(list), won)
	var all, tries float64
	for _, near := range []float64{0.96, 0.98, 1, 1.02, 1.04} {
		big := times(list, total*near)
		null, real := wins(big), wins(scaleOdds(big, r))
		k := int64(0)
		for null.atLeast(k) >= tail {
			k++
		}
		all, tries = all+real.atLeast(k), tries+1
	}
	return all / tries
}

func TestNeededAtTheLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		list       []odds
		won        int64
		half, sure int64 // -1: nil; -2: any above 0
	}{
		{"no edge", at(10, 5000), 5, -1, -1},
		{"an edge below 0", at(10, 5000), 3, -1, -1},
		{"there and beyond", at(400, 5000), 300, 0, 0},
		{"there, perhaps by luck", at(400, 5000), 222, 0, -2},
		{"not yet", at(400, 5000), 210, -2, -2},
		{"never in this life", at(250_000, 4999, 5001), 250_001, MaxNeeded, MaxNeeded},
		{"one call", at(1, 5000), 1, -2, -2},
	} {
		r := report(t, record(t, c.list, c.won))
		for _, x := range []struct {
			got  *int64
			want int64
		}{{r.Needed, c.half}, {r.NeededSure, c.sure}} {
			switch {
			case x.want == -1 && x.got != nil, x.want == -2 && (x.got == nil || *x.got <= 0), x.want >= 0 && (x.got == nil || *x.got != x.want):
				t.Errorf("%s: %v, want %d", c.name, x.got, x.want)
			}
		}
	}
}
