package pages

import (
	"strings"
	"time"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// coursePlot is a score over time as it is drawn: stairs in a box of its own.
type coursePlot struct {
	Empty          bool
	Line, Area     string // path data
	Zero           string // where the line of zero is
	Rows, Columns  []chartTick
	Now            place
	Low, High, End string
	Way            string // up, down, flat
	Note           string // what is not in it
	Label          string
}

// scoreScale is the height of a plot of scores.
type scoreScale struct{ low, high, step int64 }

// leastScores is the least height, so that a score that hardly moved looks like it.
const leastScores = 10

// scores is the scale that shows every step, and zero where that is near.
func scores(low, high int64) scoreScale {
	if low > 0 && low < high-low {
		low = 0
	}
	if high < 0 && -high < high-low {
		high = 0
	}
	if missing := leastScores - (high - low); missing > 0 {
		low, high = low-missing/2, high+missing-missing/2
	}
	step := int64(1)
	for (high-low)/step > mostLines {
		for _, by := range [...]int64{2, 5, 10} {
			if (high-low)/(step*by) <= mostLines || by == 10 {
				step *= by
				break
			}
		}
	}
	floor := func(n int64) int64 { return (n - ((n%step + step) % step)) }
	return scoreScale{floor(low), -floor(-high), step}
}

func (y scoreScale) part(score int64) float64 { return float64(y.high-score) / float64(y.high-y.low) }

func (y scoreScale) ticks() []chartTick {
	var out []chartTick
	for n := y.low; n <= y.high; n += y.step {
		out = append(out, chartTick{share(y.part(n)), signed(int(n))})
	}
	return out
}

// courseOf draws how a score changed, up to now.
func courseOf(c *recordv1.GetCourseResponse, now time.Time) coursePlot {
	steps, before := c.GetSteps(), c.GetBefore()
	if len(steps) == 0 {
		return coursePlot{Empty: true}
	}
	low, high := before, before
	for _, p := range steps {
		low, high = min(low, p.GetScore()), max(high, p.GetScore())
	}
	newest := steps[len(steps)-1]
	first, last := steps[0].GetAt().GetSeconds(), max(newest.GetAt().GetSeconds(), now.Unix())
	if short := int64(shortest/time.Second) - (last - first); short > 0 {
		first -= short
	}
	x, y := timeScale{first, last}, scores(low, high)
	end := newest.GetScore()
	height := func(score int64) string { return short(chartSide * y.part(score)) }
	ground := height(min(max(0, y.low), y.high))
	var b strings.Builder
	b.WriteString("M" + x.box(first) + " " + height(before))
	for _, p := range steps {
		b.WriteString("H" + x.box(p.GetAt().GetSeconds()) + "V" + height(p.GetScore()))
	}
	b.WriteString("H" + x.box(last))
	out := coursePlot{
		Line: b.String(), Area: b.String() + "V" + ground + "H" + x.box(first) + "Z", Rows: y.ticks(), Columns: x.ticks(),
		Now: place{x.percent(last), share(y.part(end))}, Low: signed(int(low)), High: signed(int(high)), End: signed(int(end)), Way: "flat",
	}
	if y.low <= 0 && y.high >= 0 {
		out.Zero = share(y.part(0))
	}
	switch {
	case end > before:
		out.Way = "up"
	case end < before:
		out.Way = "down"
	}
	if !c.GetWhole() {
		out.Note = "It begins at " + signed(int(before)) + ", with the newest 10,000 calls."
	}
	out.Label = "Score over time: lowest " + out.Low + ", highest " + out.High + ", now " + out.End
	return out
}
