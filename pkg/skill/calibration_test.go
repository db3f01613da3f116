package skill

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// bruteForce computes the Brier score and its parts directly from their definitions.
func bruteForce(calls []Call) (brier, market, reliability, resolution, uncertainty, within float64) {
	var n, won float64
	count, hits, said := map[int]float64{}, map[int]float64{}, map[int]float64{}
	value := func(c Call) (f, o float64, bin int) {
		if c.Won {
			o = 1
		}
		return float64(c.Confidence) / 100, o, (c.Confidence - 1) / 10
	}
	for _, c := range calls {
		f, o, bin := value(c)
		p := float64(ClampPrice(c.Price)) / 10000
		n, won = n+1, won+o
		count[bin], hits[bin], said[bin] = count[bin]+1, hits[bin]+o, said[bin]+f
		brier, market = brier+(f-o)*(f-o), market+(p-o)*(p-o)
	}
	base := won / n
	for bin, k := range count {
		f, o := said[bin]/k, hits[bin]/k
		reliability += k * (f - o) * (f - o)
		resolution += k * (o - base) * (o - base)
	}
	for _, c := range calls { // the two terms within bins of Stephenson, Coelho and Jolliffe
		f, o, bin := value(c)
		df, do := f-said[bin]/count[bin], o-hits[bin]/count[bin]
		within += df*df - 2*df*do
	}
	return brier / n, market / n, reliability / n, resolution / n, base * (1 - base), within / n
}

func TestPartsOfTheBrierScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls := someCalls(t)
		for i := range calls {
			calls[i].Confidence = max(calls[i].Confidence, 1)
		}
		r, _ := of(t, calls...).Report()
		c := r.Calibration
		brier, market, reliability, resolution, uncertainty, within := bruteForce(calls)
		for _, x := range []struct {
			name string
			got  int
			want float64
			far  float64
		}{
			{"brier", c.BrierBps, brier, 0.5},
			{"market", c.MarketBrierBps, market, 0.5},
			{"reliability", c.ReliabilityBps, reliability, 0.5},
			{"resolution", c.ResolutionBps, resolution, 0.5},
			{"uncertainty", c.UncertaintyBps, uncertainty, 0.5},
			{"within", c.WithinBps, within, 2},
		} {
			if math.Abs(float64(x.got)-1e4*x.want) > x.far+1e-6 {
				t.Fatalf("%s: %d, want %g", x.name, x.got, 1e4*x.want)
			}
		}
		if c.BrierBps != c.ReliabilityBps-c.ResolutionBps+c.UncertaintyBps+c.WithinBps {
			t.Fatalf("the parts do not add up to the Brier score: %+v", c)
		}
	})
}

func TestBins(t *testing.T) {
	t.Parallel()
	s := new(Sample)
	for _, x := range []Tally{
		{Price: 5000, Calls: 40, Wins: 40}, // without a confidence
		{Price: 5000, Confidence: 1, Calls: 3},
		{Price: 5000, Confidence: 10, Calls: 1, Wins: 1},
		{Price: 5000, Confidence: 91, Calls: 2, Wins: 2},
		{Price: 5000, Confidence: 100, Calls: 8, Wins: 8},
	} {
		if err := s.AddTally(x); err != nil {
			t.Fatal(err)
		}
	}
	c := report(t, s).Calibration
	want := []Bin{
		{From: 1, To: 10, Calls: 4, Wins: 1, ConfidenceBps: 325, HitBps: 2500, LowBps: 63, HighBps: 8059},
		{From: 91, To: 100, Calls: 10, Wins: 10, ConfidenceBps: 9820, HitBps: 10000, LowBps: 6915, HighBps: 10000},
	}
	if c.Calls != 14 || len(c.Bins) != 2 || c.Bins[0] != want[0] || c.Bins[1] != want[1] {
		t.Errorf("wrong calibration: %+v", c)
	}
	if r := report(t, record(t, at(3, 5000), 2)); r.Calibration != nil {
		t.Errorf("calibration of calls without a confidence: %+v, want nil", r.Calibration)
	}
}

// TestCalibrationDistinguishesOperators simulates operators whose calls have a known win probability, and checks their
// calibration. One operator states that probability as the confidence, one always states 95, and one states the price.
func TestCalibrationDistinguishesOperators(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	calibrated, overconfident, statesPrice := new(Sample), new(Sample), new(Sample)
	for range 5000 {
		price := 1500 + rng.IntN(7001)
		chance := min(max(price/100+rng.IntN(31)-15, 1), 100)
		won := rng.IntN(100) < chance
		for s, says := range map[*Sample]int{calibrated: chance, overconfident: 95, statesPrice: price / 100} {
			if err := s.Add(Call{protocol.Bps(price), won, says}); err != nil {
				t.Fatal(err)
			}
		}
	}
	k, b, m := report(t, calibrated).Calibration, report(t, overconfident).Calibration, report(t, statesPrice).Calibration
	t.Logf("knows: %+v", *k)
	if k.ReliabilityBps > 20 || k.BrierBps >= k.MarketBrierBps || b.ReliabilityBps < 1500 || b.ResolutionBps != 0 {
		t.Errorf("calibrated operator %+v, overconfident operator %+v", k, b)
	}
	if d := m.BrierBps - m.MarketBrierBps; d < -5 || d > 5 {
		t.Errorf("an operator that states the price must have the Brier score of the market: %+v", m)
	}
	for _, bin := range k.Bins {
		if bin.ConfidenceBps < bin.LowBps-100 || bin.ConfidenceBps > bin.HighBps+100 {
			t.Errorf("the confidence is outside of the interval of the win rate: %+v", bin)
		}
	}
}
