// Package bps converts prices. The services count in basis points: 6550 bps is 65.5 cents, a probability of 0.655, or 65.5
// percent.
package bps

import (
	"fmt"
	"math"
	"strconv"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Max is the highest price in basis points: 100 cents.
const Max = 10_000

// FromCents returns the price of an amount in cents: 65.5 is 6550. It rounds to a whole basis point. It returns an error for an
// amount outside 0 to 100.
func FromCents(cents float64) (int, error) { return rounded(cents*100, "%v cents", cents) }

// FromProbability returns the price of a probability: 0.655 is 6550. It rounds to a whole basis point. It returns an error for a
// number outside 0 to 1.
func FromProbability(p float64) (int, error) { return rounded(p*Max, "the probability %v", p) }

func rounded(price float64, what string, value float64) (int, error) {
	n := math.Round(price)
	if !(n >= 0 && n <= Max) { // also true for NaN
		return 0, fmt.Errorf("bps: "+what+" is out of range; a price is 0 to 10000 bps, which is 0 to 100 cents or 0 to 1", value)
	}
	return int(n), nil
}

// Cents returns the price in cents: 6550 is 65.5.
func Cents(price int) float64 { return float64(price) / 100 }

// Probability returns the price as a probability: 6550 is 0.655.
func Probability(price int) float64 { return float64(price) / Max }

// SideOf returns the price of a side by the price of YES, without a spread: the NO side of 6550 is 3450.
func SideOf(yes int, side client.Side) int {
	if side == client.SideNO {
		return Max - yes
	}
	return yes
}

// Format returns the price for people: 6550 is "65.5¢".
func Format(price int) string { return strconv.FormatFloat(Cents(price), 'f', -1, 64) + "¢" }
