package pages

import (
	"strconv"
	"time"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

// weekPlot is a bar chart of calls with one bar for each week.
type weekPlot struct {
	Bars  []weekBar
	Rows  []chartTick
	Label string
}

type weekBar struct {
	X, Width    string // positions in percent
	Parts       []weekPart
	Count, Name string
	NameX       string
	Tick        bool // the week has a label below its bar
	Running     bool
	CountY      string
}

type weekPart struct{ Class, Y, Height string }

// layer is one section of a stacked bar: its CSS class and the function that returns its count.
type layer struct {
	class string
	of    func(*recordv1.Week) int64
}

// topMargin is the fraction of the plot that is free above the highest bar. It has space for the count of the bar.
const topMargin = 0.12

// weeksOf returns a chart with a stacked bar for each week. The parameter named what describes the counted calls to screen
// readers. A week without calls has an empty bar with the number 0.
func weeksOf(weeks []*recordv1.Week, what string, layers ...layer) weekPlot {
	var p weekPlot
	most, sum := int64(0), int64(0)
	counts := make([]int64, len(weeks))
	for i := range weeks {
		for _, l := range layers {
			counts[i] += l.of(weeks[i])
		}
		most, sum = max(most, counts[i]), sum+counts[i]
	}
	slot := 1 / float64(max(len(weeks), 1))
	for i := range weeks {
		left := slot * float64(i)
		bar := weekBar{
			X: percentAttr(left + slot*0.14), Width: percentAttr(slot * 0.72), Count: compact(counts[i]),
			Name: weekName(weeks[i].GetStart()), NameX: percentAttr(left + slot/2),
			Tick: (len(weeks)-1-i)%4 == 0, Running: i == len(weeks)-1,
		}
		bottom := 1.0
		for _, l := range layers {
			if n := l.of(weeks[i]); n > 0 {
				height := (1 - topMargin) * float64(n) / float64(most)
				bottom -= height
				bar.Parts = append(bar.Parts, weekPart{l.class, percentAttr(bottom), percentAttr(height)})
			}
		}
		bar.CountY = percentAttr(bottom)
		p.Bars = append(p.Bars, bar)
	}
	p.Label = what + " in " + strconv.Itoa(len(weeks)) + " weeks: " + format.Grouped(sum) + ", at most " + format.Grouped(most) + " in one week"
	return p
}

// compact formats a count in a short form, rounded down: 1,234 is 1.2k.
func compact(n int64) string {
	switch {
	case n >= 1_000_000:
		return lengthAttr(float64(n/100_000)/10) + "M"
	case n >= 1000:
		return lengthAttr(float64(n/100)/10) + "k"
	}
	return format.Digits(n)
}

// weekName formats the first day of a week: 2006-01-02 is 2 Jan. An invalid date is returned unchanged.
func weekName(start string) string {
	t, err := time.Parse(time.DateOnly, start)
	if err != nil {
		return start
	}
	return t.Format("2 Jan")
}
