package skill

import "math/big"

// Calibration compares stated confidence with outcomes. All scores are means over the calls with a confidence, in
// basis points.
//
// BrierBps = ReliabilityBps - ResolutionBps + UncertaintyBps + WithinBps holds exactly. WithinBps is the remainder:
// the variation within the bins (Stephenson, Coelho and Jolliffe 2008) and rounding.
type Calibration struct {
	Calls          int64
	BrierBps       int // mean of (confidence - won)^2; 0 is perfect, 2500 results from a constant confidence of 50%
	MarketBrierBps int // the same score for the prices of the calls
	ReliabilityBps int // mean squared difference between the mean confidence and the win rate of a bin; 0 is best
	ResolutionBps  int // variance of the win rates of the bins; higher is better
	UncertaintyBps int // variance of the outcomes, which is independent of the confidence
	WithinBps      int
	Bins           []Bin // bins that contain calls, lowest first
}

// Bin contains the statistics of the calls with a stated confidence of at least From and at most To percent.
type Bin struct {
	From, To        int
	Calls, Wins     int64
	ConfidenceBps   int // mean confidence
	HitBps          int // win rate
	LowBps, HighBps int // 95% confidence interval of the true win rate
}

// perBin is the width of a bin in percent. The first of the ten bins contains the values from 1 to 10.
const perBin = 10

func (s *Sample) calibration() *Calibration {
	var c Calibration
	var all, won, said, market int64 // said is the sum of (confidence - 100*won)^2, in basis points
	reliability, resolution := new(big.Rat), new(big.Rat)
	for first := 1; first <= 100; first += perBin {
		b, points := s.bin(first)
		for i := first; i < first+perBin; i++ {
			at, n := int64(i), s.stated[i]
			said += n.wins*(100-at)*(100-at) + (n.calls-n.wins)*at*at
			market += n.market
		}
		if b.Calls == 0 {
			continue
		}
		all, won = all+b.Calls, won+b.Wins
		miss := points - 100*b.Wins
		reliability.Add(reliability, ratio(miss*miss, b.Calls))
		resolution.Add(resolution, ratio(b.Wins*b.Wins, b.Calls))
		c.Bins = append(c.Bins, b)
	}
	if all == 0 {
		return nil
	}
	mean := ratio(won*won, all)
	resolution.Mul(resolution.Sub(resolution, mean), ratio(10000, 1))
	uncertainty := mean.Mul(mean.Sub(ratio(won, 1), mean), ratio(10000, 1))
	c.Calls = all
	c.BrierBps = nearest(said, all)
	c.MarketBrierBps = nearest(market, 10000*all)
	c.ReliabilityBps, c.ResolutionBps, c.UncertaintyBps = per(reliability, all), per(resolution, all), per(uncertainty, all)
	c.WithinBps = c.BrierBps - c.ReliabilityBps + c.ResolutionBps - c.UncertaintyBps
	return &c
}

// bin returns the bin that starts at the confidence first. points is the sum of the stated confidences of its calls, in percent.
func (s *Sample) bin(first int) (b Bin, points int64) {
	b = Bin{From: first, To: first + perBin - 1}
	for i := b.From; i <= b.To; i++ {
		b.Calls += s.stated[i].calls
		b.Wins += s.stated[i].wins
		points += int64(i) * s.stated[i].calls
	}
	if b.Calls == 0 {
		return b, points
	}
	b.ConfidenceBps, b.HitBps = nearest(100*points, b.Calls), nearest(10000*b.Wins, b.Calls)
	// With equal prices the interval is the exact binomial (Clopper-Pearson) interval.
	low, high := interval([]odds{{1, 1, b.Calls}}, b.Calls, b.Wins)
	b.LowBps, b.HighBps = floor(low), ceil(high)
	return b, points
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// per returns sum/n rounded to the nearest integer, half up. sum must not be negative.
func per(sum *big.Rat, n int64) int {
	q := new(big.Rat).Quo(sum, ratio(n, 1))
	q.Add(q, ratio(1, 2))
	return int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
}
