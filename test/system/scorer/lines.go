package scorer

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Random draws a case; prices crowd at the edges, where roundings differ.
func Random(r *rand.Rand) Case {
	verdicts := [...]string{"YES", "NO", "INVALID"}
	c := Case{Yes: r.IntN(2) == 0, Price: price(r), Tolerance: 1000, Verdict: verdicts[r.IntN(len(verdicts))]}
	if r.IntN(4) > 0 {
		c.Snap = new(price(r))
	}
	if r.IntN(4) > 0 {
		c.Close = new(price(r))
	}
	if r.IntN(8) == 0 {
		c.Tolerance = price(r)
	}
	return c
}

func price(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return r.IntN(120)
	case 1:
		return 10000 - r.IntN(120)
	case 2:
		return 100 * r.IntN(101)
	default:
		return r.IntN(10001)
	}
}

// Line writes a case with its result as one line of words, as the product's own
// test of its pure functions reads it.
func Line(c Case, r Result) string {
	return fmt.Sprintf("%s %d %s %d %s %s = %d %d %s %d %s %s", side(c.Yes), c.Price, number(c.Snap), c.Tolerance, c.Verdict,
		number(c.Close), r.Price, r.Basis, r.Status, r.Score, text(r.Outcome), number(r.CLV))
}

func side(yes bool) string {
	if yes {
		return "YES"
	}
	return "NO"
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
