package pages

import (
	"math"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// spanHalves are the half widths in bps that a scale around zero may have.
var spanHalves = [...]int{200, 400, 1000, 2000, 4000, 6000, 10_000}

// spansOf returns the axis of edges, with zero in the middle, on which all the intervals can be seen.
func spansOf(reports ...*skill.Report) axis {
	most := 0
	for _, r := range reports {
		most = max(most, -r.LowBps, r.HighBps, r.EdgeBps, -r.EdgeBps)
	}
	half := float64(spanHalves[len(spanHalves)-1])
	if i := slices.IndexFunc(spanHalves[:], func(h int) bool { return most <= h }); i >= 0 {
		half = float64(spanHalves[i])
	}
	return axis{-half, half, half / 2}
}

// span is an edge and between what the true one lies, as they are drawn.
type span struct {
	Left, Width, Dot string // places in percent
	Class            string // up, down, open: it is above zero, below, or cannot be told
	Edge, Low, High  string
	Label            string // all of it for who does not see it
}

func spanOf(r *skill.Report, scale axis) span {
	at := func(bps int) float64 { return min(max(scale.part(float64(bps)), 0), 1) }
	low, high := at(r.LowBps), at(r.HighBps)
	out := span{
		Left: share(low), Width: share(math.Max(high-low, 0.004)), Dot: share(at(r.EdgeBps)), Class: leaning(r),
		Edge: pointsOf(tenth(r.EdgeBps)), Low: pointsOf(outward(r.LowBps, -1)), High: pointsOf(outward(r.HighBps, 1)),
	}
	out.Label = "Edge " + out.Edge + " points, 95% interval " + out.Low + " to " + out.High
	return out
}

// tenth rounds bps to tenths of a point, halves away from zero.
func tenth(bps int) int { return int(math.Round(float64(bps)/10)) * 10 }

// outward rounds an end of an interval to tenths of a point, away from the middle. One
// that would come to stand at zero or beyond stays as it is: on which side of zero it is
// matters most.
func outward(bps, way int) int {
	out := way * int(math.Ceil(float64(way*bps)/10)) * 10
	if out == 0 || (out < 0) != (bps < 0) {
		return bps
	}
	return out
}

// leaning is on which side of zero the whole interval is.
func leaning(r *skill.Report) string {
	switch {
	case r.LowBps > 0:
		return "up"
	case r.HighBps < 0:
		return "down"
	}
	return "open"
}

// skillPart is how much of a record is skill.
type skillPart struct {
	span
	Ticks          []chartTick
	Verdict, Plain string // in two words, and in a sentence
	Chance, Needed string
	Calls          string
	Price, Hit     string // what the prices promised, and what came
}

// skillOf puts a report into plain words; nil where nothing is decided.
func skillOf(r *skill.Report) *skillPart {
	if r == nil || r.Calls == 0 {
		return nil
	}
	scale := spansOf(r)
	p := &skillPart{
		span: spanOf(r, scale), Ticks: scale.ticks(pointsOf), Calls: many(r.Calls, "decided call"), Chance: chanceOf(r.Above),
		Price: percent(tenth(r.PriceBps)), Hit: percent(tenth(int(shareBps(r.Wins, r.Calls)))),
	}
	switch {
	case p.Class == "up":
		p.Verdict, p.Plain = "More than luck", "These calls won more often than their prices implied, and luck alone rarely explains that."
	case p.Class == "down":
		p.Verdict, p.Plain = "Below the prices", "These calls won less often than their prices implied, by more than bad luck explains."
	case r.EdgeBps > 0:
		p.Verdict, p.Plain = "Could be luck", "These calls won more often than their prices implied, but too few are decided to tell skill from luck."
	default:
		p.Verdict, p.Plain = "Could be luck", "No edge over the prices so far. This could also be bad luck."
	}
	if r.Needed != nil && *r.Needed > 0 {
		p.Needed = "At this rate, " + grouped(*r.Needed) + " more calls would show skill."
		switch {
		case *r.Needed >= skill.MaxNeeded:
			p.Needed = "At this rate, it would take more than a million calls to show skill."
		case *r.Needed == 1:
			p.Needed = "At this rate, one more call would show skill."
		}
	}
	return p
}

// shareBps is a share in bps, half up.
func shareBps(part, total int64) int64 { return (20_000*part + total) / (2 * total) }

// chanceOf writes how likely such a record is by luck: of how many people who know no
// more than the price one has it.
func chanceOf(above float64) string {
	switch {
	case above >= 0.995:
		return "nearly everybody"
	case above >= 0.01:
		return strconv.Itoa(int(math.Round(100*above))) + "%"
	case above >= 0.001:
		return strconv.Itoa(int(math.Round(1000*above))) + " of 1,000"
	case above >= 1e-6:
		return "1 of " + grouped(int64(math.Round(1/above)))
	}
	return "fewer than 1 of a million"
}

// laneSpan is one lane of a record.
type laneSpan struct {
	span
	Name, Calls, Won string
}

// lanesOf returns the lanes with a decided call on one scale, those with most calls first.
func lanesOf(lanes []*recordv1.LaneReport) ([]laneSpan, []chartTick) {
	reports := make([]*skill.Report, len(lanes))
	for i, l := range lanes {
		reports[i] = record.ReportOf(l.GetReport())
	}
	scale := spansOf(reports...)
	out := make([]laneSpan, 0, len(lanes))
	for i, r := range reports {
		out = append(out, laneSpan{
			span: spanOf(r, scale), Name: capital(lanes[i].GetLane()), Calls: many(r.Calls, "call"), Won: digits(r.Wins) + " won",
		})
	}
	return out, scale.ticks(pointsOf)
}
