package skill

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// enumerated computes the distribution of the number of wins from all 2^n outcomes.
func enumerated(list []odds) []float64 {
	chance := make([]float64, len(list)+1)
	for won := range 1 << len(list) {
		p := 1.0
		for i, o := range list {
			if win, lose := o.chances(); won>>i&1 == 1 {
				p *= win
			} else {
				p *= lose
			}
		}
		chance[bits.OnesCount(uint(won))] += p
	}
	return chance
}

// stepped computes the distribution of the number of wins by adding one call at a time.
func stepped(list []odds) []float64 {
	chance := []float64{1}
	for _, o := range list {
		win, lose := o.chances()
		for range o.calls {
			next := make([]float64, len(chance)+1)
			for k, p := range chance {
				next[k] += p * lose
				next[k+1] += p * win
			}
			chance = next
		}
	}
	return chance
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// sameTails compares the tail probabilities of d with sums over the complete distribution want.
func sameTails(t *testing.T, d distribution, want []float64) {
	t.Helper()
	below, above := 0.0, 0.0
	for k, p := range want {
		if below += p; below > 1e-18 && !near(d.atMost(int64(k)), below, 1e-9) {
			t.Errorf("probability of at most %d wins: %g, want %g", k, d.atMost(int64(k)), below)
		}
		l := len(want) - 1 - k
		if above += want[l]; above > 1e-18 && !near(d.atLeast(int64(l)), above, 1e-9) {
			t.Errorf("probability of at least %d wins: %g, want %g", l, d.atLeast(int64(l)), above)
		}
	}
}

func TestTailsMatchAllOutcomes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 14; n++ {
		for name, style := range styles {
			list := at(1, choose(rng, n, style)...)
			t.Run(name, func(t *testing.T) { sameTails(t, wins(list), enumerated(list)) })
		}
	}
}

func TestTailsMatchStepwiseAddition(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]odds{
		"many prices":  spread(1500, 1, 9999),
		"one price":    at(1200, 300),
		"both ends":    at(700, 500, 9500),
		"near the end": at(900, 1, 9999),
		"odd counts":   append(at(77, 4321), at(3, 1, 2, 9990)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameTails(t, wins(list), stepped(list))
		})
	}
}

func TestDistributionOfMany(t *testing.T) {
	t.Parallel()
	list := at(10, choose(rand.New(rand.NewPCG(2, 2)), 2000, styles["everything"])...)
	mean, variance := expected(list)
	var total, m, v float64
	d := wins(list)
	for i, p := range d.p {
		k := float64(d.from) + float64(i)
		total, m, v = total+p, m+p*k, v+p*(k-mean)*(k-mean)
	}
	if !near(total, 1, 1e-11) || !near(m, mean, 1e-11) || !near(v, variance, 1e-9) {
		t.Errorf("20000 calls: total %g, mean %g of %g, variance %g of %g", total, m, mean, v, variance)
	}
	if len(d.p) > 3000 {
		t.Errorf("%d terms in a distribution with standard deviation %g, want at most 3000", len(d.p), math.Sqrt(variance))
	}
}

func TestLeastProbability(t *testing.T) {
	t.Parallel()
	r := report(t, record(t, at(400, 500), 400))
	if r.Above != MinProbability || !near(r.Below, 1, 1e-12) || r.TwoSided != 2*MinProbability {
		t.Errorf("400 wins of 400 long shots: %+v", r)
	}
}
