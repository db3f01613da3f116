package pages

import (
	"math"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

// axis maps values to positions along one side of a plot. start is the value on the left or top, and end is the value on the
// right or bottom. step is the distance between labels.
type axis struct{ start, end, step float64 }

// fraction returns the position of a value on the axis, from 0 to 1.
func (a axis) fraction(v float64) float64 { return (v - a.start) / (a.end - a.start) }

func (a axis) length(v float64) string  { return lengthAttr(plotSize * a.fraction(v)) }
func (a axis) percent(v float64) string { return percentAttr(a.fraction(v)) }
func (a axis) column(v float64) int     { return int(maxColumns * a.fraction(v)) }

// ticks returns a label for every step of the axis, the lowest value first.
func (a axis) ticks(label func(int) string) []chartTick {
	var out []chartTick
	for v := min(a.start, a.end); v <= max(a.start, a.end); v += a.step {
		out = append(out, chartTick{a.percent(v), label(int(v))})
	}
	return out
}

// verticalAxis returns an axis from low to high, extended so that both ends are multiples of step.
func verticalAxis(low, high, step float64) axis {
	return axis{math.Ceil(high/step) * step, math.Floor(low/step) * step, step}
}

// bounds applies a function to each sample and returns the lowest and the highest result. There must be at least one sample.
func bounds(list []sample, of func(sample) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range list {
		low, high = min(low, of(r)), max(high, of(r))
	}
	return low, high
}

// timeSteps are the possible distances between time labels. A longer distance is a multiple of the last one.
var timeSteps = [...]time.Duration{
	10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 4 * day, 7 * day, 14 * day, 28 * day, 56 * day, 91 * day, 182 * day, 364 * day,
}

const (
	day            = 24 * time.Hour
	maxTimeLabels  = 7
	maxMonthLabels = 5 // fewer than maxTimeLabels, because labels with a year are wider
	maxGridLines   = 5 // maximum number of horizontal grid lines
	// A label closer to the edge of the plot would be cut off. The margin is a fraction of the plot.
	minLabelMargin = 0.05
)

// timeTicks returns the labels of a time axis, whose values are Unix seconds.
func timeTicks(x axis) []chartTick {
	first, last := int64(x.start), int64(x.end)
	span := last - first
	step := int64(timeSteps[len(timeSteps)-1] / time.Second)
	for _, s := range timeSteps {
		most := int64(maxTimeLabels)
		if s >= 56*day {
			most = maxMonthLabels
		}
		if span/int64(s/time.Second) < most {
			step = int64(s / time.Second)
			break
		}
	}
	for span/step >= maxTimeLabels || step < 60 && span/step >= maxMonthLabels { // labels with seconds are wider, too
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
		if p := x.fraction(float64(t)); p >= minLabelMargin && p <= 1-minLabelMargin {
			out = append(out, chartTick{percentAttr(p), time.Unix(t, 0).UTC().Format(layout)})
		}
	}
	return out
}

// minPriceRange is the minimum range of a price axis in bps, so that small changes look small.
const minPriceRange = 1000

var priceSteps = [...]float64{200, 250, 500, 1000, 2500}

// priceAxis returns a price axis in bps that contains all samples.
func priceAxis(list []sample) axis {
	low, high := bounds(list, sample.value)
	if missing := minPriceRange - (high - low); missing > 0 {
		low = max(0, low-math.Floor(missing/2))
		high = min(maxPrice, low+minPriceRange)
		low = min(low, high-minPriceRange)
	}
	var y axis
	for _, step := range priceSteps { // the last step has at most maxGridLines lines for any range
		if y = verticalAxis(low, high, step); (y.start-y.end)/step <= maxGridLines {
			break
		}
	}
	return y
}

// minPointsRange is the minimum range of a points axis, so that small changes look small.
const minPointsRange = 10

// pointsAxis returns an axis of points that contains all samples. It also contains zero if the distance from zero to the nearest
// sample is smaller than the range of the samples.
func pointsAxis(list []sample) axis {
	low, high := bounds(list, sample.value)
	if low > 0 && low < high-low {
		low = 0
	}
	if high < 0 && -high < high-low {
		high = 0
	}
	if missing := minPointsRange - (high - low); missing > 0 {
		half := math.Floor(missing / 2)
		low, high = low-half, high+missing-half
	}
	return verticalAxis(low, high, roundStep(high-low, maxGridLines))
}

// roundStep returns the smallest of 1, 2, 5, 10, 20, 50 and so on that fits at most lines times into a span.
func roundStep(span float64, lines int) float64 {
	step := 1.0
	for i := 0; math.Floor(span/step) > float64(lines); i++ {
		step *= [...]float64{2, 2.5, 2}[i%3]
	}
	return step
}

// percentAttr formats a fraction of the plot as a percentage for an SVG attribute.
func percentAttr(part float64) string { return lengthAttr(100*part) + "%" }

// lengthAttr formats a length with at most two decimals. It adds zero, because that turns a negative zero into zero.
func lengthAttr(v float64) string {
	return format.Decimal(math.Round(100*v)/100 + 0)
}
