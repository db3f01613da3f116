package pages

import (
	"math"
	"strconv"
	"time"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// timeScale is the width of a plot in Unix seconds; last is behind first.
type timeScale struct{ first, last int64 }

// part is where in the plot a time is, 0 to 1.
func (x timeScale) part(t int64) float64 { return float64(t-x.first) / float64(x.last-x.first) }

func (x timeScale) box(t int64) string     { return short(chartSide * x.part(t)) }
func (x timeScale) percent(t int64) string { return share(x.part(t)) }
func (x timeScale) slot(t int64) int       { return int(chartSlots * x.part(t)) }

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
	mostLines  = 5 // of prices
	// A label nearer to an edge than this would stand out.
	edgeRoom = 0.05
)

func (x timeScale) ticks() []chartTick {
	span := x.last - x.first
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
	for t := (x.first + step - 1) / step * step; t <= x.last; t += step {
		if p := x.part(t); p >= edgeRoom && p <= 1-edgeRoom {
			out = append(out, chartTick{share(p), time.Unix(t, 0).UTC().Format(layout)})
		}
	}
	return out
}

// priceScale is the height of a plot in bps, with lines at every step.
type priceScale struct{ low, high, step int }

// The least height, so that a price that hardly moves looks as if it hardly moved.
const leastHeight = 1000

var priceSteps = [...]int{200, 250, 500, 1000, 2500}

// prices is the scale that shows every price and every call.
func prices(points []price, calls []*signalv1.Signal) priceScale {
	low, high := wholePrice, 0
	see := func(bps int) { low, high = min(low, bps), max(high, bps) }
	for _, p := range points {
		see(int(p.bps))
	}
	for _, call := range calls {
		see(yesOf(call))
	}
	if missing := leastHeight - (high - low); missing > 0 {
		low = max(0, low-missing/2)
		high = min(wholePrice, low+leastHeight)
		low = min(low, high-leastHeight)
	}
	var s priceScale
	for _, step := range priceSteps { // the last one fits everything
		s = priceScale{low / step * step, (high + step - 1) / step * step, step}
		if (s.high-s.low)/step <= mostLines {
			break
		}
	}
	return s
}

// part is how far from the top a price is, 0 to 1.
func (y priceScale) part(bps float64) float64 {
	return (float64(y.high) - bps) / float64(y.high-y.low)
}

func (y priceScale) box(bps float64) string     { return short(chartSide * y.part(bps)) }
func (y priceScale) percent(bps float64) string { return share(y.part(bps)) }

func (y priceScale) ticks() []chartTick {
	var out []chartTick
	for bps := y.low; bps <= y.high; bps += y.step {
		out = append(out, chartTick{y.percent(float64(bps)), percent(bps)})
	}
	return out
}

// share writes a part of the plot as an attribute.
func share(part float64) string { return short(100*part) + "%" }

// short writes a length with two decimals at most.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
}
