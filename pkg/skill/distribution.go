package skill

// distribution is a probability distribution of the number of wins, without its improbable ends. p[i] is the probability of
// exactly from+i wins.
type distribution struct {
	from int64
	p    []float64
}

// truncationThreshold is the probability below which the ends of a distribution are cut off. The cost therefore
// depends on the width of the distribution and not on the number of calls. For a million calls the lost probability
// is below 1e-28.
const truncationThreshold = 0x1p-120

// mul returns a*b as a rounded value. Without the conversion a compiler may fuse the product with an addition on some
// platforms, which changes the last bit of the result.
func mul(a, b float64) float64 { return float64(a * b) }

// wins returns the distribution of the number of wins of independent calls (Poisson binomial distribution). It
// computes the distributions of the two halves of the list and convolves them. All terms are positive, so no
// precision is lost by cancellation.
func wins(list []odds) distribution {
	switch len(list) {
	case 0:
		return distribution{0, []float64{1}}
	case 1:
		win, lose := list[0].chances()
		return power(trim(distribution{0, []float64{lose, win}}), list[0].calls)
	}
	half := len(list) / 2
	return convolve(wins(list[:half]), wins(list[half:]))
}

// power returns the distribution of the number of wins of n calls. one is the distribution for a single call.
func power(one distribution, n int64) distribution {
	if n == 1 {
		return one
	}
	half := power(one, n/2)
	all := convolve(half, half)
	if n%2 == 1 {
		all = convolve(all, one)
	}
	return all
}

func convolve(a, b distribution) distribution {
	sum := make([]float64, len(a.p)+len(b.p)-1)
	for i, x := range a.p {
		target := sum[i : i+len(b.p)]
		for j, y := range b.p {
			target[j] += mul(x, y)
		}
	}
	return trim(distribution{a.from + b.from, sum})
}

func trim(d distribution) distribution {
	for len(d.p) > 1 && d.p[0] < truncationThreshold {
		d.p, d.from = d.p[1:], d.from+1
	}
	for len(d.p) > 1 && d.p[len(d.p)-1] < truncationThreshold {
		d.p = d.p[:len(d.p)-1]
	}
	return d
}

// mirrored returns the distribution of the number of losses of n calls. d is the distribution of their number of wins.
func (d distribution) mirrored(n int64) distribution {
	p := make([]float64, len(d.p))
	for i, x := range d.p {
		p[len(p)-1-i] = x
	}
	return distribution{n - d.from - int64(len(p)) + 1, p}
}

// MinProbability is the smallest probability in a report. Smaller probabilities are replaced by it.
const MinProbability = 1e-20

// atLeast returns the probability of k or more wins, at least MinProbability and at most 1. It adds the smallest terms first.
func (d distribution) atLeast(k int64) float64 {
	sum := 0.0
	for i := len(d.p) - 1; i >= 0 && d.from+int64(i) >= k; i-- {
		sum += d.p[i]
	}
	return min(max(sum, MinProbability), 1)
}

// atMost returns the probability of k or fewer wins, at least MinProbability and at most 1.
func (d distribution) atMost(k int64) float64 {
	sum := 0.0
	for i := 0; i < len(d.p) && d.from+int64(i) <= k; i++ {
		sum += d.p[i]
	}
	return min(max(sum, MinProbability), 1)
}
