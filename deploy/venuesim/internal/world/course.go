package world

import "math"

// priceStep is the number of seconds between two changes of a price.
const priceStep = 10

// wave is a sine wave in the log odds of a price. The field height is in log odds, period is in seconds, and phase is in
// periods.
type wave struct{ height, period, phase float64 }

// course is the price path of one invented market. The log odds are the sum of a base, waves of several periods, noise, and a
// pull towards the outcome near the end.
type course struct {
	seed       uint64
	base       float64 // log odds
	start, end int64
	pull       float64 // 1 for YES, -1 for NO, 0 for INVALID
	waves      [5]wave
}

// swings contains the mean heights and the periods of the waves.
var swings = [5]wave{{0.45, 9 * 86_400, 0}, {0.25, 31 * 3600, 0}, {0.12, 5 * 3600, 0}, {0.04, 53 * 60, 0}, {0.02, 11 * 60, 0}}

func newCourse(seed uint64, p float64, start, end int64, pull float64) *course {
	d := roll(seed, 0xc0)
	c := &course{seed: seed, base: math.Log(p / (1 - p)), start: start, end: end, pull: pull}
	for i, s := range swings {
		c.waves[i] = wave{s.height * (0.5 + d.Float64()), s.period * (0.7 + 0.6*d.Float64()), d.Float64()}
	}
	return c
}

// at returns the YES price at a Unix time in seconds.
func (c *course) at(unix int64) Price {
	unix = min(max(unix, c.start), c.end)
	unix -= unix % priceStep
	x := c.base + 0.02*c.noise(unix)
	for _, w := range c.waves {
		x += w.height * math.Sin(2*math.Pi*(float64(unix)/w.period+w.phase))
	}
	x += c.pull * 4 * math.Pow(float64(unix-c.start)/float64(c.end-c.start), 6)
	return onGrid(1 / (1 + math.Exp(-x)))
}

// noise returns a random value from -1 to 1 for a Unix time in seconds. The value is linear between two full minutes.
func (c *course) noise(unix int64) float64 {
	k := unix / 60
	knot := func(i int64) float64 { return float64(mix(c.seed, uint64(i))>>11)/(1<<52) - 1 }
	f := float64(unix%60) / 60
	return knot(k)*(1-f) + knot(k+1)*f
}

// onGrid rounds a price to an odd multiple of half a cent, or of a twentieth of a cent near 0 and 1, so that bid and ask are on
// whole ticks. The result is from 0.0015 to 0.9985.
func onGrid(p float64) Price {
	step := 10_000.0
	if p < 0.05 || p > 0.95 {
		step = 1_000
	}
	price := Price(math.Floor(p*float64(One)/step)*step + step/2)
	return min(max(price, 1_500), One-1_500)
}
