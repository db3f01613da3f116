package skill

// pmf is a stretch of a distribution of the number of wins: p[i] is the chance
// of exactly from+i.
type pmf struct {
	from int64
	p    []float64
}

// dust is what is cut from the ends of a distribution, so that the work grows
// with its width and not with the number of calls. What a million calls lose
// that way is below 1e-28 of the whole.
const dust = 0x1p-120

// mul is a product that no platform may fuse with the sum around it: a fused
// one is rounded once instead of twice, and differs in its last bit.
func mul(a, b float64) float64 { return float64(a * b) }

// wins is the distribution of the number of wins of independent calls
// (Poisson's binomial), by halves: the two halves are found the same way and put
// together. All terms are positive, nothing is lost to cancellation.
func wins(list []odds) pmf {
	switch len(list) {
	case 0:
		return pmf{0, []float64{1}}
	case 1:
		win, lose := list[0].chances()
		return power(trim(pmf{0, []float64{lose, win}}), list[0].calls)
	}
	half := len(list) / 2
	return together(wins(list[:half]), wins(list[half:]))
}

// power is the distribution of n calls, each as one.
func power(one pmf, n int64) pmf {
	if n == 1 {
		return one
	}
	half := power(one, n/2)
	all := together(half, half)
	if n%2 == 1 {
		all = together(all, one)
	}
	return all
}

func together(a, b pmf) pmf {
	sum := make([]float64, len(a.p)+len(b.p)-1)
	for i, x := range a.p {
		row := sum[i : i+len(b.p)]
		for j, y := range b.p {
			row[j] += mul(x, y)
		}
	}
	return trim(pmf{a.from + b.from, sum})
}

func trim(d pmf) pmf {
	for len(d.p) > 1 && d.p[0] < dust {
		d.p, d.from = d.p[1:], d.from+1
	}
	for len(d.p) > 1 && d.p[len(d.p)-1] < dust {
		d.p = d.p[:len(d.p)-1]
	}
	return d
}

// mirrored is the distribution of the losses of n calls.
func (d pmf) mirrored(n int64) pmf {
	p := make([]float64, len(d.p))
	for i, x := range d.p {
		p[len(p)-1-i] = x
	}
	return pmf{n - d.from - int64(len(p)) + 1, p}
}

// Least is the smallest chance that is told; it stands for everything below.
const Least = 1e-20

// atLeast is the chance of k wins or more, smallest terms first.
func (d pmf) atLeast(k int64) float64 {
	sum := 0.0
	for i := len(d.p) - 1; i >= 0 && d.from+int64(i) >= k; i-- {
		sum += d.p[i]
	}
	return min(max(sum, Least), 1)
}

// atMost is the chance of k wins or fewer.
func (d pmf) atMost(k int64) float64 {
	sum := 0.0
	for i := 0; i < len(d.p) && d.from+int64(i) <= k; i++ {
		sum += d.p[i]
	}
	return min(max(sum, Least), 1)
}
