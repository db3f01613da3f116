package skill

// tail is the chance left out at each end of an interval: 95 % are covered.
const tail = 0.025

// interval gives the share of calls won, in bps, between which the truth lies.
//
// It holds those factors on the odds under which neither so many wins nor so few
// would be rarer than the tail (the test inverted, exact and without mid-p: at
// least 95 % at every size, never less). list is never empty.
func interval(list []odds, calls, won int64) (low, high float64) {
	r := fitted(list, calls, won)
	d := wins(tilted(list, r))
	low, high = 0, 10000
	if won > 0 {
		low = share(list, mul(r, lean(d, won)), calls)
	}
	if won < calls {
		high = share(list, r/lean(d.mirrored(calls), calls-won), calls)
	}
	return low, high
}

// share is the expected share of wins in bps when all odds are tilted by r.
func share(list []odds, r float64, calls int64) float64 {
	return mul(10000, hoped(list, r)) / float64(calls)
}

// lean is the factor, at most 1, by which the odds behind d have to be worse for
// k wins or more to be as rare as the tail. Distributions of the family differ
// only by the k-th power of the factor, so one of them is enough.
func lean(d pmf, k int64) float64 {
	low, high := 0.0, 1.0
	for range halvings {
		if f := mul(0.5, low+high); d.leaned(k, f) < tail {
			low = f
		} else {
			high = f
		}
	}
	return low
}

// leaned is the chance of k wins or more with the odds multiplied by f.
func (d pmf) leaned(k int64, f float64) float64 {
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
