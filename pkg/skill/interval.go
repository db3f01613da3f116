package skill

// tail is the probability outside of the interval at each end, so that the interval covers 95%.
const tail = 0.025

// interval returns the 95% confidence interval of the true win rate, in basis points. list must not be empty.
//
// The computation varies a factor instead of the win rate. The win rate of a factor is the expected win rate if all odds in list
// are multiplied by it. The interval contains the win rates for which P(wins >= won) and P(wins <= won) are both at least tail.
// These exact probabilities have no mid-p correction, so the coverage is at least 95% for every number of calls.
func interval(list []odds, calls, won int64) (low, high float64) {
	r := fitted(list, calls, won)
	d := wins(scaleOdds(list, r))
	low, high = 0, 10000
	if won > 0 {
		low = share(list, mul(r, criticalFactor(d, won)), calls)
	}
	if won < calls {
		high = share(list, r/criticalFactor(d.mirrored(calls), calls-won), calls)
	}
	return low, high
}

// share returns the expected win rate in basis points if all odds are multiplied by r.
func share(list []odds, r float64, calls int64) float64 {
	return mul(10000, expectedWins(list, r)) / float64(calls)
}

// criticalFactor returns the factor, at most 1, by which the odds of d must be multiplied so that k or more wins have
// the probability tail. Multiplying the odds by f multiplies the probability of k wins by f^k, up to normalization,
// so the distribution need not be computed again.
func criticalFactor(d distribution, k int64) float64 {
	low, high := 0.0, 1.0
	for range halvings {
		if f := mul(0.5, low+high); d.upperTail(k, f) < tail {
			low = f
		} else {
			high = f
		}
	}
	return low
}

// upperTail returns the probability of k or more wins after all odds of the calls of d have been multiplied by f.
func (d distribution) upperTail(k int64, f float64) float64 {
	above, below, w := 0.0, 0.0, 1.0
	for i := k - d.from; i < int64(len(d.p)); i++ {
		above += mul(d.p[i], w)
		w = mul(w, f)
	}
	w = 1
	for i := k - d.from - 1; i >= 0; i-- {
		w /= f
		below += mul(d.p[i], w)
	}
	return above / (above + below)
}
