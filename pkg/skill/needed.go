package skill

import "math"

// Quantiles of the normal distribution for the probabilities 0.975 (zTail) and 0.8 (zPower).
const (
	zTail  = 1.959963984540054
	zPower = 0.8416212335729143
)

// MaxNeeded is the maximum of Report.Needed and NeededSure. Larger values are replaced by it.
const MaxNeeded = 1_000_000

// needed returns two total numbers of calls, including the existing ones. With these numbers, the lower bound of the confidence
// interval of the edge exceeds 0 with a probability of 50% (half) and 80% (power). needed assumes that further calls have the
// same edge and similar prices.
//
// The edge of one call is e. The variances of one call without and with the edge are v0 and v1. For n calls, the surplus of wins
// n*e must exceed sqrt(n)*b + c. For half, b is zTail*sqrt(v0). For power, zPower*sqrt(v1) is added to b.
//
// The term c corrects the normal approximation. It contains half a win, because wins are integers, and a Cornish-Fisher term for
// the skewness at prices far from 50%.
func needed(list []odds, calls, won int64) (half, power float64) {
	n := float64(calls)
	mean, v0 := expected(list)
	_, v1 := expected(scaleOdds(list, fitted(list, calls, won)))
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

// solve returns the number n for which n*e equals sqrt(n)*b + c, rounded up. e must be positive.
func solve(e, b, c float64) float64 {
	root := (b + math.Sqrt(max(mul(b, b)+mul(4, mul(e, c)), 0))) / mul(2, e)
	return math.Ceil(mul(root, root))
}

// remaining returns a pointer to total - calls, the number of calls that are still needed. The number is limited to the range
// from least to MaxNeeded.
func remaining(total float64, calls, least int64) *int64 {
	left := least
	if total >= float64(calls+MaxNeeded) {
		left = MaxNeeded
	} else if total > float64(calls+least) {
		left = int64(total) - calls
	}
	return &left
}
