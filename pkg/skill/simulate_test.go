package skill

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const operators = 10_000

// outcome contains, for each result of a statistic, the number of operators that have it.
type outcome struct{ one, five, fiveTwoSided, luckyLow, covered int }

// simulate computes reports of operators of all styles with 5 to 400 calls each. wrong is the difference between the
// true win probability and the price in basis points; with 0 no operator has skill.
func simulate(t *testing.T, operators, wrong int) (o outcome) {
	t.Helper()
	rng := rand.New(rand.NewPCG(20261122, uint64(wrong)))
	names := slices.Sorted(maps.Keys(styles))
	for i := range operators {
		n := int(5 * math.Pow(80, rng.Float64()))
		prices := choose(rng, n, styles[names[i%len(names)]])
		probability := func(p int) int { return min(max(p+wrong, 0), 10000) }
		trueEdge := 0.0
		for _, p := range prices {
			trueEdge += float64(probability(p)-p) / float64(n)
		}
		r := report(t, play(t, rng, prices, probability))
		add := func(to *int, yes bool) {
			if yes {
				*to++
			}
		}
		add(&o.one, r.Above <= 0.01)
		add(&o.five, r.Above <= 0.05)
		add(&o.fiveTwoSided, r.TwoSided <= 0.05)
		add(&o.luckyLow, r.LowBps > 0)
		add(&o.covered, float64(r.LowBps) <= trueEdge && trueEdge <= float64(r.HighBps))
	}
	return o
}

// TestNullOperators checks operators without skill: the significance tests have their nominal error rates and the
// interval has its nominal coverage. The tolerance is three standard deviations. TestCoverage computes the exact
// figures.
func TestNullOperators(t *testing.T) {
	t.Parallel()
	o := simulate(t, operators, 0)
	t.Logf("%d operators without skill: one-sided 1%%: %.2f%%, 5%%: %.2f%%; two-sided 5%%: %.2f%%; lower end above 0: %.2f%%; covered: %.2f%%",
		operators, percent(o.one), percent(o.five), percent(o.fiveTwoSided), percent(o.luckyLow), percent(o.covered))
	for _, c := range []struct {
		name          string
		seen          int
		nominal, idle float64
	}{
		{"one-sided 1%", o.one, 0.01, 0.002},
		{"one-sided 5%", o.five, 0.05, 0.02},
		{"two-sided 5%", o.fiveTwoSided, 0.05, 0.015},
		{"lower end above 0", o.luckyLow, 0.025, 0.008},
	} {
		chance := 3 * math.Sqrt(c.nominal*(1-c.nominal)/operators)
		if share := float64(c.seen) / operators; share > c.nominal+chance || share < c.idle {
			t.Errorf("%s: %.4f of the operators, want %.3f to %.4f", c.name, share, c.idle, c.nominal+chance)
		}
	}
	if o.covered < operators*94/100 {
		t.Errorf("the interval covered %d of %d operators, want at least 94%%", o.covered, operators)
	}
}

// TestSkillIsDetected checks that the significance tests detect skill: with prices that are three percentage points too
// low, many operators have a significant record.
func TestSkillIsDetected(t *testing.T) {
	t.Parallel()
	const operatorCount = 2000
	o := simulate(t, operatorCount, 300)
	t.Logf("%d operators with three points of edge: one-sided 5%%: %d; covered: %d", operatorCount, o.five, o.covered)
	if o.five < operatorCount*10/100 {
		t.Errorf("the record of only %d of %d operators is significant, want at least 10%%", o.five, operatorCount)
	}
	if o.covered < operatorCount*94/100 {
		t.Errorf("the interval covered %d of %d operators, want at least 94%%", o.covered, operatorCount)
	}
}

func percent(n int) float64 { return 100 * float64(n) / operators }
