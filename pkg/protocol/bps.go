package protocol

import "math"

// Bps is a price or a share in basis points, from 0 to 10000. A price is the price of YES unless stated otherwise.
type Bps int

// MaxBps is the maximum of Bps: the price of an outcome that is certain.
const MaxBps Bps = 10000

// NewBps returns n as basis points. It returns false if n is not from 0 to 10000.
func NewBps(n int64) (Bps, bool) {
	if n < 0 || n > int64(MaxBps) {
		return 0, false
	}
	return Bps(n), true
}

// BpsOfProbability converts a probability from 0 to 1 and rounds half up. It adds 1e-9 before rounding to compensate
// for the binary representation of decimal prices: 0.00015 becomes 2, not 1. It returns false if p is not from 0 to 1.
func BpsOfProbability(p float64) (Bps, bool) {
	if !(p >= 0 && p <= 1) {
		return 0, false
	}
	return Bps(math.Floor(p*float64(MaxBps) + 0.5 + 1e-9)), true
}

// Valid reports whether b is from 0 to 10000.
func (b Bps) Valid() bool { return b >= 0 && b <= MaxBps }

// Of converts the price of YES into the price of a side. It also converts the price of a side back into the price of
// YES.
func (b Bps) Of(side Side) Bps {
	if side == No {
		return MaxBps - b
	}
	return b
}

// Percent returns b as a percentage from 0 to 100.
func (b Bps) Percent() float64 { return float64(b) / 100 }

// Probability returns b as a number from 0 to 1.
func (b Bps) Probability() float64 { return float64(b) / float64(MaxBps) }
