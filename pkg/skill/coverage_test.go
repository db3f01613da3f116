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

// covered gives, without drawing lots, how often the ends enclose the truth and
// how often the lower one is above it.
func covered(list, real []odds, ends func(won int64) (float64, float64)) (inside, over float64) {
	mean, _ := expected(real)
	n := count(list)
	aim := 1e4 * mean / float64(n)
	d := wins(real)
	for i, p := range d.p {
		if p < 1e-12 {
			continue
		}
		switch low, high := ends(d.from + int64(i)); {
		case low > aim+1e-7:
			over += p
		case high >= aim-1e-7:
			inside += p
		}
	}
	return inside, over
}

// TestCoverage is the table of docs/method.md: per way, truth and mix the worst
// and the mean coverage over the sizes, and the worst error of the lower end.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, m := range mixes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, w := range ways {
				inside, over := map[string][]float64{}, map[string][]float64{}
				for _, n := range sizes {
					list := m.of(n)
					known := map[int64][2]float64{}
					ends := func(won int64) (float64, float64) {
						if _, ok := known[won]; !ok {
							low, high := w.ends(list, int64(n), won)
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
					least, most := slices.Min(in), slices.Max(o)
					t.Logf("%-13s %-6s %-12s covered %5.2f%% at least, %5.2f%% on average; lower end too high %5.2f%% at most; by size %s",
						m.name, w.name, real.name, 100*least, 100*sum(in)/float64(len(in)), 100*most, percents(in))
					if w.name == "exact" && promised[real.name] && (least < 0.95-1e-9 || most > 0.025+1e-9) {
						t.Errorf("%s, %s: covered %.4f at least, lower end too high %.4f at most", m.name, real.name, least, most)
					}
				}
			}
		})
	}
}

// promised are the truths under which 95 % hold at every size.
var promised = map[string]bool{"price right": true, "odds x1.3": true, "odds x3": true}

func percents(p []float64) (s string) {
	for _, x := range p {
		s += fmt.Sprintf(" %.1f", 100*x)
	}
	return s
}
