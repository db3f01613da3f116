package skill

// odds are the calls at one price: win to lose.
type odds struct {
	win, lose float64
	calls     int64
}

// chances of one such call to be won and to be lost.
func (o odds) chances() (win, lose float64) {
	sum := o.win + o.lose
	return o.win / sum, o.lose / sum
}

// tilted are the same calls with the odds of every one multiplied by r. This is
// the family in which skill is looked for: r = 1, the price was right; above 1,
// the sides called are likelier than their price, certain ones and hopeless
// ones by less than those in the middle.
func tilted(list []odds, r float64) []odds {
	out := make([]odds, len(list))
	for i, o := range list {
		out[i] = odds{mul(o.win, r), o.lose, o.calls}
	}
	return out
}

// hoped is the mean number of wins with the odds multiplied by r.
func hoped(list []odds, r float64) float64 {
	mean := 0.0
	for _, o := range list {
		win := mul(o.win, r)
		mean += mul(float64(o.calls), win/(win+o.lose))
	}
	return mean
}

// expected is the mean number of wins, and its variance.
func expected(list []odds) (mean, variance float64) {
	for _, o := range list {
		win, lose := o.chances()
		n := float64(o.calls)
		mean += mul(n, win)
		variance += mul(n, mul(win, lose))
	}
	return mean, variance
}

// halvings bring a number between 0 and 1 down to its last bits.
const halvings = 60

// fitted is the factor at which the expected number of wins is the one that was
// seen: the most likely factor. Half a win is kept from both ends, where it
// would be 0 or infinite.
func fitted(list []odds, calls, wins int64) float64 {
	target := min(max(float64(wins), 0.5), float64(calls)-0.5)
	low, high := 0.0, 1.0 // of r/(1+r)
	for range halvings {
		t := mul(0.5, low+high)
		if hoped(list, t/(1-t)) < target {
			low = t
		} else {
			high = t
		}
	}
	return low / (1 - low)
}
