package skill

import "math"

// Quantiles of the normal distribution: of 1-tail, and of the power of 80 %.
const (
	zTail  = 1.959963984540054
	zPower = 0.8416212335729143
)

// MaxNeeded stands for itself and for everything above.
const MaxNeeded = 1_000_000

// needed is the number of calls, these included, after which an edge like this
// one, at prices like these, lifts the lower bound above 0: on average (half),
// and for four in five with that edge (power).
//
// With e the edge of one call, v0 and v1 its variance without and with it, the
// wins ahead of the price n*e must pass the quantile sqrt(n)*b + c. The part c
// mends the normal curve: half a win because wins are whole, and a term of
// Cornish and Fisher for the lopsidedness of favourites and long shots.
func needed(list []odds, calls, won int64) (half, power float64) {
	n := float64(calls)
	mean, v0 := expected(list)
	_, v1 := expected(tilted(list, fitted(list, calls, won)))
	k3 := 0.0
	for _, o := range list {
		win, lose := o.chances()
		k3 += mul(float64(o.calls), mul(mul(win, lose), lose-win))
	}
	e := (float64(won) - mean) / n
	c := 0.5 + mul((mul(zTail, zTail)-1)/6, k3/v0)
	v0, v1 = v0/n, v1/n
	b := mul(zTail, math.Sqrt(v0))
	return solve(e, b, c), solve(e, b+mul(zPower, math.Sqrt(v1)), c)
}

// solve gives n with n*e = sqrt(n)*b + c.
func solve(e, b, c float64) float64 {
	root := (b + math.Sqrt(max(mul(b, b)+mul(4, mul(e, c)), 0))) / mul(2, e)
	return math.Ceil(mul(root, root))
}

// more is what is left of a total after the calls there are; at least least.
func more(total float64, calls, least int64) *int64 {
	left := least
	if total >= float64(calls+MaxNeeded) {
		left = MaxNeeded
	} else if total > float64(calls+least) {
		left = int64(total) - calls
	}
	return &left
}
