package protocol

import "math"

// Bps is a price or share in basis points, 0 to 10000. Where nothing else is
// said it is the price of YES.
type Bps int

// MaxBps is certainty.
const MaxBps Bps = 10000

// NewBps accepts 0 to 10000.
func NewBps(n int64) (Bps, bool) {
	if n < 0 || n > int64(MaxBps) {
		return 0, false
	}
	return Bps(n), true
}

// BpsOfProbability rounds a probability 0..1 half up. The small addition
// absorbs the binary error of decimal prices: 0.00015 is 2, not 1.
func BpsOfProbability(p float64) (Bps, bool) {
	if !(p >= 0 && p <= 1) {
		return 0, false
	}
	return Bps(math.Floor(p*float64(MaxBps) + 0.5 + 1e-9)), true
}

// Valid reports 0 to 10000.
func (b Bps) Valid() bool { return b >= 0 && b <= MaxBps }

// Of turns a YES price into the price of a side, and the price of a side back
// into the YES price.
func (b Bps) Of(side Side) Bps {
	if side == No {
		return MaxBps - b
	}
	return b
}

// Percent is the value as a number 0-100 (yesPct, yesPrice of schedules).
func (b Bps) Percent() float64 { return float64(b) / 100 }

// Probability is the value as a number 0-1 (network markets, history).
func (b Bps) Probability() float64 { return float64(b) / float64(MaxBps) }
