package skill

import (
	"math/rand/v2"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// at returns n calls at each of the prices.
func at(n int64, prices ...int) []odds {
	list := make([]odds, len(prices))
	for i, p := range prices {
		list[i] = odds{float64(p), float64(10000 - p), n}
	}
	return list
}

// spread returns n calls at prices evenly distributed between from and to.
func spread(n, from, to int) []odds {
	list := make([]odds, n)
	for i := range list {
		p := from + (to-from)*i/max(n-1, 1)
		list[i] = odds{float64(p), float64(10000 - p), 1}
	}
	return list
}

// record returns a sample of the calls in list, of which the first won calls are won.
func record(t testing.TB, list []odds, won int64) *Sample {
	t.Helper()
	s := new(Sample)
	for _, o := range list {
		w := min(won, o.calls)
		won -= w
		if err := s.AddTally(Tally{Price: protocol.Bps(o.win), Calls: o.calls, Wins: w}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func count(list []odds) (n int64) {
	for _, o := range list {
		n += o.calls
	}
	return n
}

// report returns the report of a sample. The test fails if the sample is empty.
func report(t testing.TB, s *Sample) Report {
	t.Helper()
	r, ok := s.Report()
	if !ok {
		t.Fatal("no calls")
	}
	return r
}

// play returns a sample with simulated outcomes of calls at the given prices. truth returns the win probability of a
// price. Both are in basis points.
func play(t testing.TB, rng *rand.Rand, prices []int, truth func(price int) int) *Sample {
	t.Helper()
	s := new(Sample)
	for _, p := range prices {
		if err := s.Add(Call{Price: protocol.Bps(p), Won: rng.IntN(10000) < truth(p)}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func truePrice(price int) int { return price }

// styles contains ways to choose markets. Each function returns the price of one call.
var styles = map[string]func(*rand.Rand) int{
	"favourites": func(rng *rand.Rand) int { return 9000 + rng.IntN(900) },
	"long shots": func(rng *rand.Rand) int { return 100 + rng.IntN(900) },
	"coin flips": func(rng *rand.Rand) int { return 4800 + rng.IntN(401) },
	"everything": func(rng *rand.Rand) int { return 100 + rng.IntN(9801) },
	"both ends":  func(rng *rand.Rand) int { return 500 + 9000*rng.IntN(2) },
}

func choose(rng *rand.Rand, n int, style func(*rand.Rand) int) []int {
	prices := make([]int, n)
	for i := range prices {
		prices[i] = style(rng)
	}
	return prices
}
