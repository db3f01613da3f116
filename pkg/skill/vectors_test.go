package skill

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// singleCalls returns one call at each of the prices, of which the first won calls are won.
func singleCalls(won int, prices ...protocol.Bps) (calls []tally) {
	for i, p := range prices {
		t := tally{PriceBps: p, Calls: 1}
		if i < won {
			t.Wins = 1
		}
		calls = append(calls, t)
	}
	return calls
}

// randomCalls returns calls at random prices, with a random confidence for two thirds of the prices.
func randomCalls(seed uint64, prices int, calls int64, from, to int) (all []tally) {
	rng := rand.New(rand.NewPCG(seed, seed))
	for range prices {
		t := tally{PriceBps: protocol.Bps(from + rng.IntN(to-from+1)), Calls: calls}
		if rng.IntN(3) > 0 {
			t.Confidence = min(max(int(t.PriceBps)/100+rng.IntN(21)-5, 1), 100)
		}
		for range calls {
			if rng.IntN(10000) < int(t.PriceBps)+300 {
				t.Wins++
			}
		}
		all = append(all, t)
	}
	return all
}

var vectors = []vector{
	{Name: "one call, won", Calls: singleCalls(1, 5000)},
	{Name: "one call, lost", Calls: singleCalls(0, 5000)},
	{Name: "one long shot, won", Calls: singleCalls(1, 1)},
	{Name: "bought for nothing and for everything", Calls: singleCalls(1, 10000, 0)},
	{Name: "half of ten coins", Calls: []tally{{PriceBps: 5000, Calls: 10, Wins: 5}}},
	{Name: "all of ten coins", Calls: []tally{{PriceBps: 5000, Calls: 10, Wins: 10}}},
	{Name: "three prices", Calls: singleCalls(2, 3333, 6200, 9150)},
	{Name: "a hundred coins and five", Calls: []tally{{PriceBps: 5000, Calls: 100, Wins: 55}}},
	{Name: "favourites", Calls: []tally{{PriceBps: 9500, Calls: 60, Wins: 58}, {PriceBps: 9730, Calls: 40, Wins: 40}}},
	{Name: "long shots", Calls: []tally{{PriceBps: 500, Calls: 70, Wins: 6}, {PriceBps: 180, Calls: 30, Wins: 1}}},
	{Name: "none of 300", Calls: []tally{{PriceBps: 2500, Calls: 300}}},
	{Name: "an oracle", Calls: []tally{{PriceBps: 500, Calls: 400, Wins: 400}}},
	{Name: "confidence without a spread", Calls: []tally{{PriceBps: 4000, Confidence: 70, Calls: 9, Wins: 6}}},
	{Name: "confidence at the edges of bins", Calls: []tally{
		{PriceBps: 1200, Confidence: 1, Calls: 4},
		{PriceBps: 1200, Confidence: 10, Calls: 5, Wins: 1},
		{PriceBps: 1500, Confidence: 11, Calls: 7, Wins: 1},
		{PriceBps: 8800, Confidence: 90, Calls: 11, Wins: 9},
		{PriceBps: 8800, Confidence: 91, Calls: 6, Wins: 6},
		{PriceBps: 9100, Confidence: 100, Calls: 3, Wins: 2},
	}},
	{Name: "two hundred of all kinds", Calls: randomCalls(1, 50, 4, 200, 9800)},
	{Name: "a thousand in the middle", Calls: randomCalls(2, 40, 25, 3000, 7000)},
	{Name: "twenty thousand", Calls: []tally{
		{PriceBps: 1234, Calls: 5000, Wins: 640},
		{PriceBps: 4990, Confidence: 55, Calls: 7000, Wins: 3580},
		{PriceBps: 7001, Confidence: 72, Calls: 5000, Wins: 3531},
		{PriceBps: 9960, Confidence: 99, Calls: 3000, Wins: 2990},
	}},
}

// TestVectors compares the reports with testdata/vectors.json. go test -update writes the file. A change of any
// number requires a new Version.
func TestVectors(t *testing.T) {
	t.Parallel()
	for i, v := range vectors {
		s := new(Sample)
		for _, c := range v.Calls {
			if err := s.AddTally(Tally{Price: c.PriceBps, Confidence: c.Confidence, Calls: c.Calls, Wins: c.Wins}); err != nil {
				t.Fatal(err)
			}
		}
		vectors[i].Report = reportJSON(t, report(t, s))
		// The rounding of no vector may depend on the last bit of an implementation.
		low, high := interval(s.odds(), s.calls, s.wins)
		mean := float64(s.prices) / float64(s.calls)
		for _, end := range []float64{low - mean + grain, high - mean - grain} {
			if math.Abs(end-math.Round(end)) < grain/10 {
				t.Errorf("%s: %.9f is too close to an integer to be rounded reliably", v.Name, end)
			}
		}
	}
	out, err := json.Marshal(vectors)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "vectors.json", out)
}
