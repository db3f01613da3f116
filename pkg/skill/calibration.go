package skill

import "math/big"

// Calibration compares what operators said with what came. All terms are means
// over the calls with a confidence, in bps.
//
// BrierBps = ReliabilityBps - ResolutionBps + UncertaintyBps + WithinBps holds to
// the unit: WithinBps is what the three leave over, the spread inside the bins
// (Stephenson, Coelho and Jolliffe 2008) and what rounding took.
type Calibration struct {
	Calls          int64
	BrierBps       int // mean of (confidence - won)^2; 0 is perfect, 2500 is always saying 50
	MarketBrierBps int // the same for the prices of the same calls
	ReliabilityBps int // how far bins hit beside what they said; 0 is best
	ResolutionBps  int // how far bins differ from the mean; more is better
	UncertaintyBps int // how hard the questions were, whoever answers
	WithinBps      int
	Bins           []Bin // those with calls, lowest first
}

// Bin is the calls with a confidence of From to To percent.
type Bin struct {
	From, To        int
	Calls, Wins     int64
	ConfidenceBps   int // their mean
	HitBps          int // the share that was won
	LowBps, HighBps int // between which the true share lies, in 95 of 100
}

// perBin is the width: ten bins, 1 to 10 first.
const perBin = 10

func (s *Sample) calibration() *Calibration {
	var c Calibration
	var all, won, said, market int64 // said: sum of (confidence - 100*won)^2, which is bps
	reliable, resolved := new(big.Rat), new(big.Rat)
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
		reliable.Add(reliable, ratio(miss*miss, b.Calls))
		resolved.Add(resolved, ratio(b.Wins*b.Wins, b.Calls))
		c.Bins = append(c.Bins, b)
	}
	if all == 0 {
		return nil
	}
	mean := ratio(won*won, all)
	resolved.Mul(resolved.Sub(resolved, mean), ratio(10000, 1))
	uncertain := mean.Mul(mean.Sub(ratio(won, 1), mean), ratio(10000, 1))
	c.Calls = all
	c.BrierBps = nearest(said, all)
	c.MarketBrierBps = nearest(market, 10000*all)
	c.ReliabilityBps, c.ResolutionBps, c.UncertaintyBps = per(reliable, all), per(resolved, all), per(uncertain, all)
	c.WithinBps = c.BrierBps - c.ReliabilityBps + c.ResolutionBps - c.UncertaintyBps
	return &c
}

// bin counts the calls from one confidence on; points is the sum of what they said.
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
	// At one price for all, the family of the interval is the binomial one.
	low, high := interval([]odds{{1, 1, b.Calls}}, b.Calls, b.Wins)
	b.LowBps, b.HighBps = floor(low), ceil(high)
	return b, points
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// per is sum/n to the nearest whole number, halves up; sum is not negative.
func per(sum *big.Rat, n int64) int {
	q := new(big.Rat).Quo(sum, ratio(n, 1))
	q.Add(q, ratio(1, 2))
	return int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
}
