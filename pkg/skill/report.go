package skill

import "math"

// Version names the formulas. Any change of a number in testdata/vectors.json is
// another version.
const Version = "1.0"

// Report is what a record says about its operator. Bps are hundredths of a
// percentage point.
type Report struct {
	Calls, Wins int64
	// PriceBps is the mean price: the share of wins that the market promised.
	PriceBps int
	// EdgeBps is the mean of won - price over the calls, -10000 to 10000.
	// Between LowBps and HighBps, rounded outwards, lies the true edge in at
	// least 95 of 100 records, as far as the limits in docs/method.md allow.
	// Boards are ordered by LowBps.
	EdgeBps, LowBps, HighBps int
	// Above is the exact chance of so many wins or more if every price was
	// right; Below of so many or fewer; TwoSided twice the smaller, at most 1.
	// None is told smaller than Least.
	Above, Below, TwoSided float64
	// Needed is how many calls more, if it goes on like this, until LowBps is
	// above 0; NeededSure until it is for four of five operators with such an
	// edge. 0 when it is there, nil without an edge above 0.
	Needed, NeededSure *int64
	// Calibration judges stated confidence; nil where none was given.
	Calibration *Calibration
}

// Report computes all of it; false for an empty sample.
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
		r.Needed, r.NeededSure = more(half, s.calls, least), more(power, s.calls, 0)
	}
	return r, true
}

// bounds are the ends of the interval of the edge.
func (s *Sample) bounds(list []odds) (low, high int) {
	l, h := interval(list, s.calls, s.wins)
	mean := float64(s.prices) / float64(s.calls)
	return floor(l - mean), ceil(h - mean)
}

// grain is what a whole number may be missed by: some ends are whole by their
// nature, and must not depend on the last bit.
const grain = 1e-6

func floor(x float64) int { return int(math.Floor(x + grain)) }

func ceil(x float64) int { return int(math.Ceil(x - grain)) }

// EdgeBps is the mean edge from three counters: calls, wins, and the sum of the
// prices in bps. It is 0 without calls.
func EdgeBps(calls, wins, prices int64) int {
	if calls == 0 {
		return 0
	}
	return nearest(10000*wins-prices, calls)
}

// nearest is a/b in whole numbers, halves away from zero; b > 0.
func nearest(a, b int64) int {
	if a < 0 {
		return -nearest(-a, b)
	}
	return int((2*a + b) / (2 * b))
}
