package pages

import (
	"math"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// edgeAxisHalves are the possible maximum values of an edge axis in bps. The minimum is the negative of the maximum.
var edgeAxisHalves = [...]int{200, 400, 1000, 2000, 4000, 6000, 10_000}

// edgeAxis returns an edge axis in bps with zero in the middle. The intervals of all reports fit on it, if they are within 100%.
func edgeAxis(reports ...*skill.Report) axis {
	most := 0
	for _, r := range reports {
		most = max(most, -r.LowBps, r.HighBps, r.EdgeBps, -r.EdgeBps)
	}
	half := float64(edgeAxisHalves[len(edgeAxisHalves)-1])
	if i := slices.IndexFunc(edgeAxisHalves[:], func(h int) bool { return most <= h }); i >= 0 {
		half = float64(edgeAxisHalves[i])
	}
	return axis{-half, half, half / 2}
}

// edgePlot is a measured edge with its 95% confidence interval, as positions and texts.
type edgePlot struct {
	Left, Width, Dot string // positions of the interval and of the edge, in percent of the plot
	Class            string // position of the interval: up (above zero), down (below zero) or open (contains zero)
	Edge, Low, High  string
	Label            string // description for screen readers
}

func newEdgePlot(r *skill.Report, scale axis) edgePlot {
	at := func(bps int) float64 { return min(max(scale.fraction(float64(bps)), 0), 1) }
	low, high := at(r.LowBps), at(r.HighBps)
	out := edgePlot{
		Left: percentAttr(low), Width: percentAttr(math.Max(high-low, 0.004)), Dot: percentAttr(at(r.EdgeBps)),
		Class: significance(r),
		Edge:  format.PointsOf(roundToTenth(r.EdgeBps)), Low: format.PointsOf(roundOutward(r.LowBps, -1)),
		High: format.PointsOf(roundOutward(r.HighBps, 1)),
	}
	out.Label = "Edge " + out.Edge + " percentage points, 95% interval " + out.Low + " to " + out.High
	return out
}

// roundToTenth rounds bps to tenths of a percentage point, with halves away from zero.
func roundToTenth(bps int) int { return int(math.Round(float64(bps)/10)) * 10 }

// roundOutward rounds a bound of an interval to tenths of a percentage point, away from the middle of the interval. way is -1 for
// the lower bound and 1 for the upper bound. A bound that would become zero or change its sign is not rounded.
func roundOutward(bps, way int) int {
	out := way * int(math.Ceil(float64(way*bps)/10)) * 10
	if out == 0 || (out < 0) != (bps < 0) {
		return bps
	}
	return out
}

// significance returns "up" if the whole interval is above zero, "down" if it is below zero, and "open" if it contains zero.
func significance(r *skill.Report) string {
	switch {
	case r.LowBps > 0:
		return "up"
	case r.HighBps < 0:
		return "down"
	}
	return "open"
}

// skillPart states whether the record of an operator shows skill or may be luck.
type skillPart struct {
	edgePlot
	Ticks                    []chartTick
	Verdict, Text            string // a short label and a sentence
	LuckShare, CallsNeeded   string
	Calls                    string
	ExpectedWinRate, WinRate string // share of wins that the prices imply, and actual share of wins
}

// skillOf returns the texts for a skill report, or nil without a resolved call.
func skillOf(r *skill.Report) *skillPart {
	if r == nil || r.Calls == 0 {
		return nil
	}
	scale := edgeAxis(r)
	p := &skillPart{
		edgePlot: newEdgePlot(r, scale), Ticks: scale.ticks(format.PointsOf), Calls: format.CountOf(r.Calls, "resolved call"),
		LuckShare:       luckText(r.Above),
		ExpectedWinRate: format.Percent(roundToTenth(r.PriceBps)), WinRate: format.Percent(roundToTenth(int(shareBps(r.Wins, r.Calls)))),
	}
	switch {
	case p.Class == "up":
		p.Verdict, p.Text = "More than luck", "These calls won more often than their prices implied, and luck alone rarely "+
			"explains that."
	case p.Class == "down":
		p.Verdict, p.Text = "Below the prices", "These calls won less often than their prices implied, by more than bad luck "+
			"explains."
	case r.EdgeBps > 0:
		p.Verdict, p.Text = "Could be luck", "These calls won more often than their prices implied, but too few are resolved to "+
			"tell skill from luck."
	default:
		p.Verdict, p.Text = "Could be luck", "No edge over the prices so far. This could also be bad luck."
	}
	if r.Needed != nil && *r.Needed > 0 {
		p.CallsNeeded = "At this rate, " + format.Grouped(*r.Needed) + " more calls would show skill."
		switch {
		case *r.Needed >= skill.MaxNeeded:
			p.CallsNeeded = "At this rate, it would take more than a million calls to show skill."
		case *r.Needed == 1:
			p.CallsNeeded = "At this rate, one more call would show skill."
		}
	}
	return p
}

// shareBps returns part as a share of total in bps, rounded half up. total must not be zero.
func shareBps(part, total int64) int64 { return (20_000*part + total) / (2 * total) }

// luckText formats a probability. The parameter named above is the probability that a forecaster without skill does at least as
// well.
func luckText(above float64) string {
	switch {
	case above >= 0.995:
		return "nearly all"
	case above >= 0.01:
		return strconv.Itoa(int(math.Round(100*above))) + "%"
	case above >= 0.001:
		return strconv.Itoa(int(math.Round(1000*above))) + " in 1,000"
	case above >= 1e-6:
		return "1 in " + format.Grouped(int64(math.Round(1/above)))
	}
	return "fewer than 1 in a million"
}

// laneEdge is the edge of an operator in one lane.
type laneEdge struct {
	edgePlot
	Name, Calls, Won string
}

// lanesOf returns the edge in each of the lanes, in the same order, and the ticks of their common axis.
func lanesOf(lanes []*recordv1.LaneReport) ([]laneEdge, []chartTick) {
	reports := make([]*skill.Report, len(lanes))
	for i, l := range lanes {
		reports[i] = record.ReportOf(l.GetReport())
	}
	scale := edgeAxis(reports...)
	out := make([]laneEdge, 0, len(lanes))
	for i, r := range reports {
		out = append(out, laneEdge{
			edgePlot: newEdgePlot(r, scale), Name: format.TitleCase(lanes[i].GetLane()), Calls: format.CountOf(r.Calls, "call"),
			Won: format.Digits(r.Wins) + " won",
		})
	}
	return out, scale.ticks(format.PointsOf)
}
