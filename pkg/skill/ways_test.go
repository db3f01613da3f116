package skill

import "math"

// An interval is a way to get from wins to the ends, in bps of the share won.
type way struct {
	name string
	ends func(list []odds, calls, won int64) (low, high float64)
}

// The interval of this package, and what it was chosen from.
var ways = []way{
	{"exact", interval},
	{"mid-p", midP},
	{"shift", shifted},
	{"wald", wald},
}

// wald is edge ± 1.96 deviations at the most likely odds.
func wald(list []odds, calls, won int64) (low, high float64) {
	_, v := expected(tilted(list, fitted(list, calls, won)))
	n := float64(calls)
	e, half := float64(won)/n, zTail*math.Sqrt(v)/n
	return 1e4 * (e - half), 1e4 * (e + half)
}

// shifted inverts the score test of "every chance is price + d", which for one
// price is Wilson's interval.
func shifted(list []odds, calls, won int64) (low, high float64) {
	mean, v0 := expected(list)
	n, z2 := float64(calls), zTail*zTail
	w, tilt := float64(won)-mean, n-2*mean // variance: v0 + d*tilt - n*d*d
	a, b, c := n*n+z2*n, -2*n*w-z2*tilt, w*w-z2*v0
	root := math.Sqrt(max(b*b-4*a*c, 0))
	return 1e4 * ((-b-root)/(2*a) + mean/n), 1e4 * ((-b+root)/(2*a) + mean/n)
}

// midP counts only half of the chance of exactly so many wins.
func midP(list []odds, calls, won int64) (low, high float64) {
	r := fitted(list, calls, won)
	d := wins(tilted(list, r))
	low, high = 0, 1e4
	if won > 0 {
		low = share(list, r*leanMid(d, won), calls)
	}
	if won < calls {
		high = share(list, r/leanMid(d.mirrored(calls), calls-won), calls)
	}
	return low, high
}

func leanMid(d pmf, k int64) float64 {
	low, high := 0.0, 1.0
	for range halvings {
		f := (low + high) / 2
		if (d.leaned(k, f)+d.leaned(k+1, f))/2 < tail {
			low = f
		} else {
			high = f
		}
	}
	return low
}

// truth is what the chances really are behind the prices.
type truth struct {
	name string
	of   func([]odds) []odds
}

var truths = []truth{
	{"price right", func(l []odds) []odds { return l }},
	{"odds x1.3", func(l []odds) []odds { return tilted(l, 1.3) }},
	{"odds x3", func(l []odds) []odds { return tilted(l, 3) }},
	{"+3 points", func(l []odds) []odds { return moved(l, func(p float64) float64 { return p + 300 }) }},
	{"half know", func(l []odds) []odds { return moved(l, everySecond(0.5)) }},
	{"too sure", func(l []odds) []odds { return moved(l, func(p float64) float64 { return 5000 + (p-5000)*0.9 }) }},
}

// moved gives every call another chance than its price.
func moved(list []odds, to func(float64) float64) []odds {
	out := make([]odds, 0, len(list))
	for _, o := range list {
		for range o.calls {
			p := min(max(to(o.win), 1), 9999)
			out = append(out, odds{p, 10000 - p, 1})
		}
	}
	return out
}

// everySecond brings one call in two so far towards certainty.
func everySecond(far float64) func(float64) float64 {
	i := 0
	return func(p float64) float64 {
		if i++; i%2 == 0 {
			return p + (10000-p)*far
		}
		return p
	}
}
