package pages

import (
	"math"
	"time"
)

// axis is one side of a plot: the values at its start, left or on top, and at its end, and the distance of its labels.
type axis struct{ start, end, step float64 }

// part returns where on the axis a value is, from 0 to 1.
func (a axis) part(v float64) float64 { return (v - a.start) / (a.end - a.start) }

func (a axis) box(v float64) string     { return short(chartSide * a.part(v)) }
func (a axis) percent(v float64) string { return share(a.part(v)) }
func (a axis) slot(v float64) int       { return int(chartSlots * a.part(v)) }

// ticks labels every step, the lowest first.
func (a axis) ticks(label func(int) string) []chartTick {
	var out []chartTick
	for v := min(a.start, a.end); v <= max(a.start, a.end); v += a.step {
		out = append(out, chartTick{a.percent(v), label(int(v))})
	}
	return out
}

// upright returns the axis of a height that begins and ends with a label.
func upright(low, high, step float64) axis {
	return axis{math.Ceil(high/step) * step, math.Floor(low/step) * step, step}
}

// bounds returns the lowest and the highest value of readings, of which there must be one.
func bounds(list []reading, of func(reading) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range list {
		low, high = min(low, of(r)), max(high, of(r))
	}
	return low, high
}

// The distances that labels may have; above them it is years.
var timeSteps = [...]time.Duration{
	10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 4 * day, 7 * day, 14 * day, 28 * day, 56 * day, 91 * day, 182 * day, 364 * day,
}

const (
	day        = 24 * time.Hour
	mostLabels = 7
	mostMonths = 5 // labels that name the year are wider
	mostLines  = 5 // of a height
	// A label nearer to an edge than this would stand out.
	edgeRoom = 0.05
)

// timeTicks labels an axis of Unix seconds.
func timeTicks(x axis) []chartTick {
	first, last := int64(x.start), int64(x.end)
	span := last - first
	step := int64(timeSteps[len(timeSteps)-1] / time.Second)
	for _, s := range timeSteps {
		most := int64(mostLabels)
		if s >= 56*day {
			most = mostMonths
		}
		if span/int64(s/time.Second) < most {
			step = int64(s / time.Second)
			break
		}
	}
	for span/step >= mostLabels {
		step *= 2
	}
	layout := "Jan 2006"
	switch {
	case step < 60:
		layout = "15:04:05"
	case step < int64(day/time.Second):
		layout = "15:04"
	case step < int64(56*day/time.Second):
		layout = "2 Jan"
	}
	var out []chartTick
	for t := (first + step - 1) / step * step; t <= last; t += step {
		if p := x.part(float64(t)); p >= edgeRoom && p <= 1-edgeRoom {
			out = append(out, chartTick{share(p), time.Unix(t, 0).UTC().Format(layout)})
		}
	}
	return out
}

// The least height, so that a price that hardly moves looks as if it hardly moved.
const leastHeight = 1000

var priceSteps = [...]float64{200, 250, 500, 1000, 2500}

// prices is the axis in bps that shows every reading.
func prices(list []reading) axis {
	low, high := bounds(list, reading.value)
	if missing := leastHeight - (high - low); missing > 0 {
		low = max(0, low-math.Floor(missing/2))
		high = min(wholePrice, low+leastHeight)
		low = min(low, high-leastHeight)
	}
	var y axis
	for _, step := range priceSteps { // the last one fits everything
		if y = upright(low, high, step); (y.start-y.end)/step <= mostLines {
			break
		}
	}
	return y
}

// leastScores is the least height, so that a score that hardly moved looks like it.
const leastScores = 10

// scores is the axis that shows every reading of a score, and zero where that is near.
func scores(list []reading) axis {
	low, high := bounds(list, reading.value)
	if low > 0 && low < high-low {
		low = 0
	}
	if high < 0 && -high < high-low {
		high = 0
	}
	if missing := leastScores - (high - low); missing > 0 {
		half := math.Floor(missing / 2)
		low, high = low-half, high+missing-half
	}
	step := 1.0
	for i := 0; math.Floor((high-low)/step) > mostLines; i++ {
		step *= [...]float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, 50
	}
	return upright(low, high, step)
}

// share writes a part of the plot as an attribute.
func share(part float64) string { return short(100*part) + "%" }

// short writes a length with two decimals at most. Adding zero takes the sign from a negative zero.
func short(v float64) string {
	return decimal(math.Round(100*v)/100 + 0)
}
