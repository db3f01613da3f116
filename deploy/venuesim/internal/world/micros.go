package world

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Micros is a price in millionths of a dollar, so that prices print exactly.
type Micros int64

// One is the price of a certainty.
const One Micros = 1_000_000

// FromFloat rounds a price of 0 to 1; it fails outside that range.
func FromFloat(p float64) (Micros, error) {
	if math.IsNaN(p) || p < 0 || p > 1 {
		return 0, fmt.Errorf("price %v is not within 0 and 1", p)
	}
	return Micros(math.Round(p * float64(One))), nil
}

// Float gives the price as a number.
func (m Micros) Float() float64 { return float64(m) / float64(One) }

// String gives the shortest decimal text, as the venue writes it.
func (m Micros) String() string {
	if m%One == 0 {
		return strconv.FormatInt(int64(m/One), 10)
	}
	s := fmt.Sprintf("%d.%06d", m/One, m%One)
	return strings.TrimRight(s, "0")
}

// Fixed gives at least two decimals, as order books do.
func (m Micros) Fixed() string {
	s := fmt.Sprintf("%d.%06d", m/One, m%One)
	for i := 0; i < 4 && strings.HasSuffix(s, "0"); i++ {
		s = s[:len(s)-1]
	}
	return s
}

// Dollars gives four decimals, or six where four do not hold the price.
func (m Micros) Dollars() string {
	if m%100 == 0 {
		return fmt.Sprintf("%d.%04d", m/One, m%One/100)
	}
	return fmt.Sprintf("%d.%06d", m/One, m%One)
}
