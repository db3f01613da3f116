package skill

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTailProbabilityAtTheBounds checks that, at both ends of the interval, the enumeration of all outcomes yields the
// tail probability.
func TestTailProbabilityAtTheBounds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for name, style := range styles {
		list := at(1, choose(rng, 11, style)...)
		for won := range int64(12) {
			low, high := interval(list, 11, won)
			if won > 0 {
				d := enumerated(scaleOdds(list, factorAt(list, low)))
				if got := sum(d[won:]); !near(got, tail, 1e-6) {
					t.Errorf("%s: the probability of %d or more of 11 wins is %g at the lower end, want 0.025", name, won, got)
				}
			}
			if won < 11 {
				d := enumerated(scaleOdds(list, factorAt(list, high)))
				if got := sum(d[:won+1]); !near(got, tail, 1e-6) {
					t.Errorf("%s: the probability of %d or fewer of 11 wins is %g at the upper end, want 0.025", name, won, got)
				}
			}
		}
	}
}

// factorAt computes the factor of the odds for an expected win rate, independently of the code under test.
func factorAt(list []odds, share float64) float64 {
	low, high := math.Log(1e-12), math.Log(1e12)
	for range 200 {
		mid, mean := (low+high)/2, 0.0
		for _, o := range list {
			mean += float64(o.calls) * o.win / (o.win + o.lose*math.Exp(-mid))
		}
		if mean/float64(count(list))*10000 < share {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp(low)
}

func sum(p []float64) (s float64) {
	for _, x := range p {
		s += x
	}
	return s
}

// TestClopperAndPearson checks that, for calls at one price, the interval equals the published limits of Clopper and
// Pearson.
func TestClopperAndPearson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		won, calls int64
		low, high  float64
	}{
		{0, 10, 0, 0.3085}, {1, 10, 0.0025, 0.4450}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {15, 148, 0.0578, 0.1617},
	} {
		for _, price := range []int{100, 5000, 9900} {
			low, high := interval(at(c.calls, price), c.calls, c.won)
			if math.Abs(low/1e4-c.low) > 6e-5 || math.Abs(high/1e4-c.high) > 6e-5 {
				t.Errorf("%d of %d at %d: %.4f to %.4f, want %.4f to %.4f", c.won, c.calls, price, low/1e4, high/1e4, c.low, c.high)
			}
		}
	}
}

func TestEndsWithoutRounding(t *testing.T) {
	t.Parallel()
	for price := 1; price < 10000; price += 7 {
		for _, n := range []int64{1, 2, 3, 50} {
			if r := report(t, record(t, at(n, price), 0)); r.LowBps != -price || r.EdgeBps != -price {
				t.Fatalf("0 of %d at %d: %+v", n, price, r)
			}
			if r := report(t, record(t, at(n, price), n)); r.HighBps != 10000-price || r.EdgeBps != 10000-price {
				t.Fatalf("%d of %d at %d: %+v", n, n, price, r)
			}
		}
	}
}
