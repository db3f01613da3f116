package pages

import (
	"math"
	"strconv"
	"strings"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// coursePlot is a step line that shows the points of an operator by call number, with the band of luck: the points of 95 of 100
// forecasters who know no more than the prices.
//
// A call at the scoring price p earns 100 (1-p) points with the probability p, and otherwise costs 100 p points. The mean is 0 and
// the variance is 100² p (1-p). After several independent calls, the band is ±1.96 · 100 · √(Σ p (1-p)).
type coursePlot struct {
	Words, Label   string // Words: the points in words, if there are fewer than two steps; Label: description for screen readers
	Line, Area     string // path data
	Band           string // path data of the area of the band
	Zero           string // vertical position of the zero line; empty: outside the plot
	YTicks, XTicks []chartTick
	Now            position
	Low, High, End string
	Luck           string // half of the height of the band at the last call
	Trend          string // up, down, flat
	Note           string // says that older calls are left out; empty: none are
	Table          []courseRow
}

// courseRow is one point in the table of a coursePlot.
type courseRow struct{ Call, Points, Luck string }

// newCoursePlot returns the plot of the points of an operator. Without counted calls, the plot is empty.
func newCoursePlot(c *recordv1.GetCourseResponse) coursePlot {
	steps := c.GetSteps()
	if len(steps) == 0 {
		return coursePlot{}
	}
	last := steps[len(steps)-1].GetScore()
	before := float64(c.GetBefore())
	line, luck := []sample{{v: before}}, []sample{{}}
	calls, variance := int64(0), int64(0)
	for _, p := range steps {
		calls, variance = calls+p.GetCalls(), variance+p.GetVariance()
		line = append(line, sample{float64(calls), float64(p.GetScore())})
		luck = append(luck, sample{float64(calls), 1.96 * math.Sqrt(float64(variance)) / 100}) // prices are in bps
	}
	out := coursePlot{End: format.Signed(int(last)), Trend: trendOf(last - c.GetBefore())}
	if !c.GetWhole() {
		out.Note = "The chart starts at " + view.PointsLabel(c.GetBefore()) + " and shows the newest 10,000 calls."
	}
	if len(steps) < 2 {
		out.Words = format.CountOf(calls, "counted call") + ", " + view.PointsLabel(last) + "."
		return out
	}
	end := luck[len(luck)-1].v
	x, y := axis{end: float64(calls), step: roundStep(float64(calls), maxTimeLabels-1)},
		pointsAxis(append([]sample{{v: before - end}, {v: before + end}}, line...))
	out.Line = linePath(line, x, y, true)
	bottom := y.length(min(max(0, y.end), y.start))
	out.Area, out.Band = areaPath(out.Line, x.length(0), bottom), bandPath(luck, before, x, y)
	low, high := bounds(line, sample.value)
	out.YTicks, out.XTicks = y.ticks(format.Signed), x.ticks(strconv.Itoa)[1:]
	out.Now, out.Low, out.High = line[len(line)-1].position(x, y), format.Signed(int(low)), format.Signed(int(high))
	out.Luck = "±" + strconv.Itoa(int(math.Round(end)))
	if y.end <= 0 && y.start >= 0 {
		out.Zero = y.percent(0)
	}
	out.Label = "Points by call: lowest " + out.Low + ", highest " + out.High + ", now " + out.End + ", luck alone " + out.Luck
	for _, i := range spread(len(line)) {
		out.Table = append(out.Table, courseRow{
			format.Grouped(int64(line[i].t)), format.Signed(int(line[i].v)), "±" + strconv.Itoa(int(math.Round(luck[i].v))),
		})
	}
	return out
}

// bandPath returns the path of the area between middle-v and middle+v, where v are the values of the samples.
func bandPath(half []sample, middle float64, x, y axis) string {
	upper, lower := make([]sample, len(half)), make([]sample, len(half))
	for i, h := range half {
		upper[i], lower[len(half)-1-i] = sample{h.t, middle + h.v}, sample{h.t, middle - h.v}
	}
	return linePath(upper, x, y, false) + "L" + strings.TrimPrefix(linePath(lower, x, y, false), "M") + "Z"
}

// spread returns at most maxTableRows indexes of a list with n entries, at equal distances, with the first and the last one.
func spread(n int) []int {
	rows := min(n, maxTableRows)
	out := make([]int, rows)
	for i := range out {
		out[i] = i * (n - 1) / max(rows-1, 1)
	}
	return out
}
