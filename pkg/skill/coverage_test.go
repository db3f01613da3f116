package skill

import (
	"fmt"
	"slices"
	"testing"
)

var mixes = []struct {
	name string
	of   func(n int) []odds
}{
	{"5000", func(n int) []odds { return at(int64(n), 5000) }},
	{"9500", func(n int) []odds { return at(int64(n), 9500) }},
	{"500", func(n int) []odds { return at(int64(n), 500) }},
	{"200 to 9800", func(n int) []odds { return spread(n, 200, 9800) }},
	{"500 and 9500", func(n int) []odds { return append(at(int64(n+1)/2, 500), at(int64(n)/2, 9500)...) }},
}

var sizes = []int{5, 10, 20, 50, 100, 200, 500, 1000}

// covered returns the probability that the interval of ends contains the true edge, and the probability that its lower
// end is above the true edge. It sums over all numbers of wins. real contains the true probabilities of the calls in
// list.
func covered(list, real []odds, ends func(won int64) (float64, float64)) (inside, over float64) {
	mean, _ := expected(real)
	n := count(list)
	trueEdge := 1e4 * mean / float64(n)
	d := wins(real)
	for i, p := range d.p {
		if p < 1e-12 {
			continue
		}
		switch low, high := ends(d.from + int64(i)); {
		case low > trueEdge+1e-7:
			over += p
		case high >= trueEdge-1e-7:
			inside += p
		}
	}
	return inside, over
}

// TestCoverage logs, for each mix of prices and each truth, the minimum and mean coverage over the sample sizes, and
// the maximum probability that the lower end is too high. docs/method.md contains the results for the truth "price
// right".
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, m := range mixes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			inside, over := map[string][]float64{}, map[string][]float64{}
			for _, n := range sizes {
				list := m.of(n)
				known := map[int64][2]float64{}
				ends := func(won int64) (float64, float64) {
					if _, ok := known[won]; !ok {
						low, high := interval(list, int64(n), won)
						known[won] = [2]float64{low, high}
					}
					return known[won][0], known[won][1]
				}
				for _, real := range truths {
					in, o := covered(list, real.of(list), ends)
					inside[real.name], over[real.name] = append(inside[real.name], in), append(over[real.name], o)
				}
			}
			for _, real := range truths {
				in, o := inside[real.name], over[real.name]
				minCoverage, maxOver := slices.Min(in), slices.Max(o)
				t.Logf("%-13s %-12s covered %5.2f%% at least, %5.2f%% on average; lower end too high %5.2f%% at most; by size %s",
					m.name, real.name, 100*minCoverage, 100*sum(in)/float64(len(in)), 100*maxOver, percents(in))
				if guaranteed[real.name] && (minCoverage < 0.95-1e-9 || maxOver > 0.025+1e-9) {
					t.Errorf("%s, %s: minimum coverage %.4f, lower end too high with probability %.4f at most", m.name, real.name, minCoverage, maxOver)
				}
			}
		})
	}
}

// guaranteed contains the truths for which the interval covers at least 95% at every sample size.
var guaranteed = map[string]bool{"price right": true, "odds x1.3": true, "odds x3": true}

func percents(p []float64) (s string) {
	for _, x := range p {
		s += fmt.Sprintf(" %.1f", 100*x)
	}
	return s
}

// truth is an assumption about the true win probabilities of calls. of returns the calls with these probabilities as
// their odds.
type truth struct {
	name string
	of   func([]odds) []odds
}

var truths = []truth{
	{"price right", func(l []odds) []odds { return l }},
	{"odds x1.3", func(l []odds) []odds { return scaleOdds(l, 1.3) }},
	{"odds x3", func(l []odds) []odds { return scaleOdds(l, 3) }},
	{"+3 points", func(l []odds) []odds { return moved(l, func(p float64) float64 { return p + 300 }) }},
	{"half know", func(l []odds) []odds { return moved(l, everySecond(0.5)) }},
	{"too sure", func(l []odds) []odds { return moved(l, func(p float64) float64 { return 5000 + (p-5000)*0.9 }) }},
}

// moved returns the calls of list with prices changed by the function to and limited to 1 to 9999 bps.
func moved(list []odds, to func(float64) float64) []odds {
	out := make([]odds, 0, len(list))
	for _, o := range list {
		for range o.calls {
			p := min(max(to(o.win), 1), 9999)
			out = append(out, odds{p, 10000 - p, 1})
		}
	}
	return out
}

// everySecond returns a function that moves every second price towards 10000 bps by a share of the distance.
func everySecond(far float64) func(float64) float64 {
	i := 0
	return func(p float64) float64 {
		if i++; i%2 == 0 {
			return p + (10000-p)*far
		}
		return p
	}
}
