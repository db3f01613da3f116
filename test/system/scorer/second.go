package scorer

import "math/big"

// Case is one call with what is known around it, in basis points.
type Case struct {
	Yes       bool
	Price     int  // as the client sent it
	Snap      *int // the market's YES price at the call
	Tolerance int
	Verdict   string // YES, NO, INVALID
	Close     *int   // the market's YES price at its close
}

// Result is what the protocol makes of a case.
type Result struct {
	Price   int // as stored
	Basis   int // as scored
	Status  string
	Score   int
	Outcome *string
	CLV     *int
}

// dollars is a price of n basis points.
func dollars(n int) *big.Rat { return big.NewRat(int64(n), 10000) }

// bps is the inverse of dollars; prices are whole basis points.
func bps(d *big.Rat) int {
	n := new(big.Rat).Mul(d, big.NewRat(10000, 1))
	return int(n.Num().Int64() / n.Denom().Int64())
}

var one = big.NewRat(1, 1)

// of turns a YES price into the price of a side.
func of(yes bool, price *big.Rat) *big.Rat {
	if yes {
		return price
	}
	return new(big.Rat).Sub(one, price)
}

func apart(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d)
}

// Of computes a case.
func Of(c Case) Result {
	paid := dollars(c.Price)
	if !c.Yes && c.Snap != nil {
		yes := dollars(*c.Snap)
		if apart(paid, yes).Cmp(apart(paid, of(false, yes))) < 0 {
			paid = of(false, paid) // the YES price was sent for a NO call
		}
	}
	basis := paid
	if c.Snap != nil {
		floor := new(big.Rat).Sub(of(c.Yes, dollars(*c.Snap)), dollars(c.Tolerance))
		if floor.Cmp(basis) > 0 {
			basis = floor
		}
	}
	r := Scored(c.Yes, bps(basis), c.Verdict, c.Close)
	r.Price, r.Basis = bps(paid), bps(basis)
	return r
}

// Scored is the part of Of that a resolution decides.
func Scored(yes bool, basis int, verdict string, closing *int) Result {
	if verdict != "YES" && verdict != "NO" {
		return Result{Status: "void"}
	}
	r := Result{Outcome: &verdict, Basis: basis}
	stake := dollars(min(max(basis, 1), 10000))
	if yes == (verdict == "YES") {
		r.Status, r.Score = "won", cents(new(big.Rat).Sub(one, stake))
	} else {
		r.Status, r.Score = "lost", cents(new(big.Rat).Neg(stake))
	}
	if closing != nil {
		moved := bps(of(yes, dollars(*closing))) - basis
		r.CLV = &moved
	}
	return r
}

// cents rounds an amount of dollars down to whole cents, so against the caller
// for a gain and for a loss alike.
func cents(d *big.Rat) int {
	c := new(big.Rat).Mul(d, big.NewRat(100, 1))
	n := new(big.Int)
	n.Div(c.Num(), c.Denom()) // Euclidean: rounds down for a positive divisor
	return int(n.Int64())
}
