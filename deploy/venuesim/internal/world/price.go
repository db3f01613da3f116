package world

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Price is a price in millionths of a dollar. Integers print exactly.
type Price int64

// One is the price of a certain outcome: one dollar.
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

// String returns the price as the shortest decimal text.
func (p Price) String() string {
	if p%One == 0 {
		return strconv.FormatInt(int64(p/One), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%06d", p/One, p%One), "0")
}

// Decimals returns the price as decimal text with n to six decimals.
func (p Price) Decimals(n int) string {
	s := fmt.Sprintf("%d.%06d", p/One, p%One)
	for i := 0; i < 6-n && strings.HasSuffix(s, "0"); i++ {
		s = s[:len(s)-1]
	}
	return s
}

// Top is the best bid and ask of one outcome. A bid of 0 or an ask of One means that there are no orders on that side.
type Top struct{ Bid, Ask Price }

// opposite returns the best bid and ask of the other outcome.
func (t Top) opposite() Top { return Top{One - t.Ask, One - t.Bid} }

// TopAround returns the best bid and ask around a price: one cent apart, and a tenth of a cent within five cents of 0 and One.
func TopAround(p Price) Top {
	half := Price(5_000)
	if p < 50_000 || p > One-50_000 {
		half = 500
	}
	return Top{max(p-half, 0), min(p+half, One)}
}
