package skill

// odds contains the odds of a win at one price, as the ratio win : lose, and the number of calls at that price.
type odds struct {
	win, lose float64
	calls     int64
}

// chances returns the probabilities that one of the calls is won and lost. Their sum is 1.
func (o odds) chances() (win, lose float64) {
	sum := o.win + o.lose
	return o.win / sum, o.lose / sum
}

// scaleOdds returns list with all odds multiplied by r. The factor r models skill. With r = 1 every price was right. With r > 1
// the predicted sides are likelier than their price; the difference is largest for medium prices.
func scaleOdds(list []odds, r float64) []odds {
	out := make([]odds, len(list))
	for i, o := range list {
		out[i] = odds{mul(o.win, r), o.lose, o.calls}
	}
	return out
}

// expectedWins returns the expected number of wins if all odds are multiplied by r.
func expectedWins(list []odds, r float64) float64 {
	mean := 0.0
	for _, o := range list {
		win := mul(o.win, r)
		mean += mul(float64(o.calls), win/(win+o.lose))
	}
	return mean
}

// expected returns the expected number of wins of the calls in list, and the variance of that number.
func expected(list []odds) (mean, variance float64) {
	for _, o := range list {
		win, lose := o.chances()
		n := float64(o.calls)
		mean += mul(n, win)
		variance += mul(n, mul(win, lose))
	}
	return mean, variance
}

// halvings is the number of bisection steps that determine a number between 0 and 1 to its last bits.
const halvings = 60

// fitted returns the factor of the odds for which the expected number of wins equals wins (maximum likelihood
// estimate). wins is limited to 0.5 to calls-0.5, because the factor would be 0 or infinite otherwise.
func fitted(list []odds, calls, wins int64) float64 {
	target := min(max(float64(wins), 0.5), float64(calls)-0.5)
	low, high := 0.0, 1.0 // of r/(1+r)
	for range halvings {
		t := mul(0.5, low+high)
		if expectedWins(list, t/(1-t)) < target {
			low = t
		} else {
			high = t
		}
	}
	return low / (1 - low)
}
