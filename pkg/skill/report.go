package skill

import "math"

// Version is the version of the formulas. A change of any number in testdata/vectors.json requires a new version.
const Version = "1.0"

// Report contains the statistics of a record. One basis point (Bps) is a hundredth of a percentage point.
type Report struct {
	Calls, Wins int64
	// PriceBps is the mean price, which is the win rate that the market expected.
	PriceBps int
	// EdgeBps is the mean of (won - price) over the calls, from -10000 to 10000. LowBps and HighBps, rounded
	// outwards, are the 95% confidence interval of the true edge, subject to the limits in docs/method.md.
	// Leaderboards are ordered by LowBps.
	EdgeBps, LowBps, HighBps int
	// Above is the exact probability of at least Wins wins if every price was right, and Below that of at most Wins
	// wins. TwoSided is twice the smaller of the two, at most 1. Above and Below are at least MinProbability.
	Above, Below, TwoSided float64
	// Needed is the number of further calls after which LowBps is above 0 for half of the operators with the same edge.
	// NeededSure is that number for 80% of these operators. Needed is 0 if LowBps is already above 0. Both are at most
	// MaxNeeded, and nil if the edge is not above 0.
	Needed, NeededSure *int64
	// Calibration is the calibration of stated confidence. It is nil if no call has a confidence.
	Calibration *Calibration
}

// Report computes the statistics of the sample. It returns false if the sample is empty.
func (s *Sample) Report() (Report, bool) {
	if s.calls == 0 {
		return Report{}, false
	}
	list := s.odds()
	r := Report{
		Calls: s.calls, Wins: s.wins, PriceBps: nearest(s.prices, s.calls),
		EdgeBps: EdgeBps(s.calls, s.wins, s.prices), Calibration: s.calibration(),
	}
	r.LowBps, r.HighBps = s.bounds(list)
	d := wins(list)
	r.Above, r.Below = d.atLeast(s.wins), d.atMost(s.wins)
	r.TwoSided = min(1, mul(2, min(r.Above, r.Below)))
	if 10000*s.wins > s.prices {
		half, power := needed(list, s.calls, s.wins)
		least := int64(1)
		if r.LowBps > 0 {
			half, least = 0, 0
		}
		r.Needed, r.NeededSure = remaining(half, s.calls, least), remaining(power, s.calls, 0)
	}
	return r, true
}

// bounds returns the ends of the confidence interval of the edge in basis points, rounded outwards.
func (s *Sample) bounds(list []odds) (low, high int) {
	l, h := interval(list, s.calls, s.wins)
	mean := float64(s.prices) / float64(s.calls)
	return floor(l - mean), ceil(h - mean)
}

// grain is the tolerance for integers when rounding. Some ends of intervals are exact integers, and their rounding must
// not depend on the last bit of the computation.
const grain = 1e-6

func floor(x float64) int { return int(math.Floor(x + grain)) }

func ceil(x float64) int { return int(math.Ceil(x - grain)) }

// EdgeBps returns the mean edge per call in basis points. prices is the sum of the prices of the calls in basis points.
// EdgeBps returns 0 if there are no calls.
func EdgeBps(calls, wins, prices int64) int {
	if calls == 0 {
		return 0
	}
	return nearest(10000*wins-prices, calls)
}

// nearest returns a/b rounded to the nearest integer, half away from zero. b must be positive.
func nearest(a, b int64) int {
	if a < 0 {
		return -nearest(-a, b)
	}
	return int((2*a + b) / (2 * b))
}
