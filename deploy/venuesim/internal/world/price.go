package world

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Price is a price in millionths of a dollar. It is an integer, so that texts of prices are exact.
type Price int64

// One is one dollar, the price of an outcome that is certain.
const One Price = 1_000_000

// UnmarshalJSON reads a price from 0 to 1 and rounds it to millionths.
func (p *Price) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < 0 || f > 1 {
		return fmt.Errorf("price %s must be a number from 0 to 1", raw)
	}
	*p = Price(math.Round(f * float64(One)))
	return nil
}

// Float returns the price as a number from 0 to 1.
func (p Price) Float() float64 { return float64(p) / float64(One) }

// String returns the price in dollars as the shortest decimal text.
func (p Price) String() string {
	if p%One == 0 {
		return strconv.FormatInt(int64(p/One), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%06d", p/One, p%One), "0")
}

// Decimals returns the price in dollars as decimal text with at least n and at most six decimals.
func (p Price) Decimals(n int) string {
	s := fmt.Sprintf("%d.%06d", p/One, p%One)
	for i := 0; i < 6-n && strings.HasSuffix(s, "0"); i++ {
		s = s[:len(s)-1]
	}
	return s
}

// Top is the best bid and the best ask of one outcome. A bid of 0 or an ask of One means that this side has no orders.
type Top struct{ Bid, Ask Price }

// opposite returns the best bid and ask of the other outcome of a market with two outcomes.
func (t Top) opposite() Top { return Top{One - t.Ask, One - t.Bid} }

// TopAround returns a best bid and ask around a price. They are one cent apart, or a tenth of a cent if the price is within
// five cents of 0 or One.
func TopAround(p Price) Top {
	half := Price(5_000)
	if p < 50_000 || p > One-50_000 {
		half = 500
	}
	return Top{max(p-half, 0), min(p+half, One)}
}
