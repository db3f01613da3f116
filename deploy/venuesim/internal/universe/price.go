package universe

import (
	"math"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// priceStep is how long a price holds: readers within it agree.
const priceStep = 10

// wave is one slow swing of the odds.
type wave struct{ height, period, phase float64 }

// course is the price of one market over time: swings of several lengths about
// a base, a little noise, and a pull towards the outcome as the end comes near.
type course struct {
	seed       uint64
	base       float64 // log odds
	start, end int64
	pull       float64 // +1 YES, -1 NO, 0 neither
	waves      [5]wave
}

var swings = [5]struct{ height, period float64 }{
	{0.45, 9 * 86400}, {0.25, 31 * 3600}, {0.12, 5 * 3600}, {0.04, 53 * 60}, {0.02, 11 * 60},
}

func newCourse(seed uint64, p float64, start, end int64, pull float64) *course {
	d := roll(seed, 0xc0)
	c := &course{seed: seed, base: math.Log(p / (1 - p)), start: start, end: end, pull: pull}
	for i, s := range swings {
		c.waves[i] = wave{s.height * (0.5 + d.unit()), s.period * (0.7 + 0.6*d.unit()), d.unit()}
	}
	return c
}

// at is the YES price at a second of Unix time, on the venue's price grid.
func (c *course) at(unix int64) world.Micros {
	unix = min(max(unix, c.start), c.end)
	unix -= unix % priceStep
	x := c.base + 0.02*c.noise(unix)
	for _, w := range c.waves {
		x += w.height * math.Sin(2*math.Pi*(float64(unix)/w.period+w.phase))
	}
	if c.end > c.start {
		x += c.pull * 4 * math.Pow(float64(unix-c.start)/float64(c.end-c.start), 6)
	}
	return grid(1 / (1 + math.Exp(-x)))
}

// noise is smooth value noise with a knot each minute, within -1 and 1.
func (c *course) noise(unix int64) float64 {
	k := unix / 60
	knot := func(i int64) float64 { return 2*roll(c.seed, uint64(i)).unit() - 1 }
	f := float64(unix%60) / 60
	return knot(k)*(1-f) + knot(k+1)*f
}

// grid puts a price on half cents, or on half tenths of a cent near the ends,
// so that the quote around it is on whole ones.
func grid(p float64) world.Micros {
	step := 10_000.0
	if p < 0.05 || p > 0.95 {
		step = 1_000
	}
	m := world.Micros(math.Floor(p*float64(world.One)/step)*step + step/2)
	return min(max(m, 1_500), world.One-1_500)
}
