package pages

import (
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// dotPlot shows groups of calls: horizontally a probability, and vertically the share of won calls. The area of a dot is proportional
// to the number of calls.
type dotPlot struct {
	Dots           []groupDot
	XTicks, YTicks []chartTick // in percent
	Label          string
}

// group is a group of calls with its mean probability and its share of won calls, and a 95% interval of this share, in bps.
// HasInterval is false if the interval is unknown.
type group struct {
	Name        string
	Calls       int64
	At, Hit     int
	Low, High   int
	HasInterval bool
}

// groupDot is a group of calls with the position of its dot and its interval, in percent. R is the radius of the dot.
type groupDot struct {
	group
	X, Y, Top, Bottom, R string
}

// maxDotRadius is the radius of the dot of the largest group. minDotRadius keeps the dots of small groups visible.
const (
	minDotRadius = 2
	maxDotRadius = 12
)

// newDotPlot returns the plot of groups that have calls.
func newDotPlot(name string, groups []group) dotPlot {
	across, up := axis{0, maxPrice, maxPrice / 4}, axis{maxPrice, 0, maxPrice / 4}
	p := dotPlot{XTicks: across.ticks(wholePercent), YTicks: up.ticks(wholePercent)}
	most := int64(1)
	for _, g := range groups {
		most = max(most, g.Calls)
	}
	height := func(bps int) string { return up.percent(float64(bps)) }
	for _, g := range groups {
		p.Dots = append(p.Dots, groupDot{
			group: g, X: across.percent(float64(g.At)), Y: height(g.Hit), Top: height(g.High), Bottom: height(g.Low),
			R: lengthAttr(max(minDotRadius, maxDotRadius*math.Sqrt(float64(g.Calls)/float64(most)))),
		})
	}
	p.Label = name + " with " + format.CountOf(int64(len(p.Dots)), "group") + " of calls; the table below has the numbers"
	return p
}

// calibrationPlot compares stated confidence with the share of won calls. Calls are grouped by confidence; each group has a dot
// and a 95% interval.
type calibrationPlot struct {
	dotPlot
	Calls            string
	Text             string
	BrierScore       string // Brier scores of the stated confidence and of the market price
	MarketBrierScore string
}

// calibrationOf returns the calibration plot of c, or nil without calls that have a stated confidence.
func calibrationOf(c *skill.Calibration) *calibrationPlot {
	if c == nil || c.Calls == 0 {
		return nil
	}
	p := &calibrationPlot{
		Calls: format.CountOf(c.Calls, "resolved call"), BrierScore: view.Brier(c.BrierBps), MarketBrierScore: view.Brier(c.MarketBrierBps),
		Text: "Stated confidence was no more accurate than the market price.",
	}
	if c.BrierBps < c.MarketBrierBps {
		p.Text = "Stated confidence was more accurate than the market price."
	}
	var groups []group
	for _, b := range c.Bins {
		if b.Calls > 0 {
			groups = append(groups, group{
				strconv.Itoa(b.From) + "–" + strconv.Itoa(b.To) + "%", b.Calls, b.ConfidenceBps, b.HitBps, b.LowBps, b.HighBps, true,
			})
		}
	}
	p.dotPlot = newDotPlot("Calibration plot", groups)
	return p
}

// pricePlot compares the scoring prices of all calls with the outcomes.
type pricePlot struct {
	dotPlot
	Text string
}

// pricesOf returns the calibration of prices, or nil without counted calls.
func pricesOf(ranges []*recordv1.PriceRange) *pricePlot {
	var groups []group
	var calls, misses int64
	for _, r := range ranges {
		price, hit := int(r.GetPriceBps()), int(shareBps(r.GetWins(), r.GetCalls()))
		first := price / 1000 * 10
		groups = append(groups, group{
			Name: strconv.Itoa(first) + "–" + strconv.Itoa(first+10) + "¢", Calls: r.GetCalls(), At: price, Hit: hit,
		})
		calls, misses = calls+r.GetCalls(), misses+r.GetCalls()*int64(max(hit-price, price-hit))
	}
	if calls == 0 {
		return nil
	}
	return &pricePlot{
		dotPlot: newDotPlot("Prices and outcomes", groups),
		Text: "The share of won calls differs from the price by " + format.Cents(roundToTenth(int(misses/calls))) + " on average, over " +
			format.Grouped(calls) + " " + format.NounOf(calls, "counted call") + ".",
	}
}

func wholePercent(bps int) string { return format.Digits(int64((bps+50)/100)) + "%" }
