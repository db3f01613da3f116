package pages

import (
	"math"
	"slices"
	"strconv"
	"strings"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// coursePlot is a step line that shows the points of an operator by call number, with the band of luck: the points of 95 of 100
// forecasters who know no more than the prices.
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
	course := view.CourseOf(c)
	end := course[len(course)-1]
	var line, upper, lower []sample
	for _, p := range course {
		at := float64(p.Calls)
		line, upper, lower = append(line, sample{at, p.Points}), append(upper, sample{at, p.High}), append(lower, sample{at, p.Low})
	}
	out := coursePlot{End: format.Signed(int(last)), Trend: trendOf(last - c.GetBefore())}
	if !c.GetWhole() {
		out.Note = "The chart starts at " + view.PointsLabel(c.GetBefore()) + " and shows the newest 10,000 calls."
	}
	if len(steps) < 2 {
		out.Words = format.CountOf(end.Calls, "counted call") + ", " + view.PointsLabel(last) + "."
		return out
	}
	total := float64(end.Calls)
	x, y := axis{end: total, step: roundStep(total, maxTimeLabels-1)}, pointsAxis(slices.Concat(line, upper, lower))
	out.Line = linePath(line, x, y, true)
	bottom := y.length(min(max(0, y.end), y.start))
	out.Area, out.Band = areaPath(out.Line, x.length(0), bottom), linePath(upper, x, y, false)
	slices.Reverse(lower)
	out.Band += "L" + strings.TrimPrefix(linePath(lower, x, y, false), "M") + "Z"
	low, high := bounds(line, sample.value)
	out.YTicks, out.XTicks = y.ticks(format.Signed), x.ticks(strconv.Itoa)[1:]
	out.Now, out.Low, out.High = line[len(line)-1].position(x, y), format.Signed(int(low)), format.Signed(int(high))
	luck := func(p view.CoursePoint) string { return "±" + strconv.Itoa(int(math.Round((p.High-p.Low)/2))) }
	out.Luck = luck(end)
	if y.end <= 0 && y.start >= 0 {
		out.Zero = y.percent(0)
	}
	out.Label = "Points by call: lowest " + out.Low + ", highest " + out.High + ", now " + out.End + ", luck alone " + out.Luck
	for _, i := range spread(len(line)) {
		out.Table = append(out.Table, courseRow{
			format.Grouped(course[i].Calls), format.Signed(int(course[i].Points)), luck(course[i]),
		})
	}
	return out
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
