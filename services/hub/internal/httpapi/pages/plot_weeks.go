package pages

import (
	"strconv"
	"time"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// weekPlot is one bar for each week.
type weekPlot struct {
	Bars  []weekBar
	Rows  []chartTick
	Label string
}

type weekBar struct {
	X, Width    string // places in percent
	Parts       []weekPart
	Count, Name string
	NameX       string
	Tick        bool // the name is written under the bar
	Running     bool
	CountY      string
}

type weekPart struct{ Class, Y, Height string }

// layer is one tier of a plot of weeks.
type layer struct {
	class string
	of    func(*recordv1.Week) int64
}

// headroom is how much of a plot is kept free above the highest bar, for its number.
const headroom = 0.12

// weeksOf returns a bar for each week, with stacked layers. A week without calls has an empty bar with the count 0.
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
			X: share(left + slot*0.14), Width: share(slot * 0.72), Count: compact(counts[i]),
			Name: weekName(weeks[i].GetStart()), NameX: share(left + slot/2),
			Tick: (len(weeks)-1-i)%4 == 0, Running: i == len(weeks)-1,
		}
		ground := 1.0
		for _, l := range layers {
			if n := l.of(weeks[i]); n > 0 {
				height := (1 - headroom) * float64(n) / float64(most)
				ground -= height
				bar.Parts = append(bar.Parts, weekPart{l.class, share(ground), share(height)})
			}
		}
		bar.CountY = share(ground)
		p.Bars = append(p.Bars, bar)
	}
	p.Label = what + " in " + strconv.Itoa(len(weeks)) + " weeks: " + grouped(sum) + ", at most " + grouped(most) + " in one"
	return p
}

// compact writes a count into little room: 1,234 is 1.2k.
func compact(n int64) string {
	switch {
	case n >= 1_000_000:
		return short(float64(n/100_000)/10) + "M"
	case n >= 1000:
		return short(float64(n/100)/10) + "k"
	}
	return digits(n)
}

// weekName is the first day of a week; what is no date stays.
func weekName(start string) string {
	t, err := time.Parse(time.DateOnly, start)
	if err != nil {
		return start
	}
	return t.Format("2 Jan")
}
