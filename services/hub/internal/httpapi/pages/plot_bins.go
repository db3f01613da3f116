package pages

import (
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

// calibrationPlot compares stated confidence with the share of won calls. Calls are grouped by confidence; each group has a dot
// and a 95% interval.
type calibrationPlot struct {
	Bins             []binMark
	XTicks           []chartTick // stated confidence in percent
	YTicks           []chartTick // share of won calls in percent
	Calls            string
	Text             string
	BrierScore       string // Brier scores of the stated confidence and of the market price
	MarketBrierScore string
	Label            string
}

// binMark is a group of calls with the position of its dot and its interval, in percent. R is the radius of the dot.
type binMark struct {
	skill.Bin
	X, Y, Top, Bottom string
	R                 string
}

// Minimum radius of a dot, and the maximum addition to it. The dot of the largest group has the full addition.
const (
	minDotRadius   = 4
	dotRadiusRange = 5
)

// calibrationOf returns the calibration plot of c, or nil without calls that have a stated confidence.
func calibrationOf(c *skill.Calibration) *calibrationPlot {
	if c == nil || c.Calls == 0 {
		return nil
	}
	p := &calibrationPlot{
		Calls: format.CountOf(c.Calls, "resolved call"), BrierScore: brier(c.BrierBps), MarketBrierScore: brier(c.MarketBrierBps),
		Text: "Stated confidence was no more accurate than the market price.",
	}
	if c.BrierBps < c.MarketBrierBps {
		p.Text = "Stated confidence was more accurate than the market price."
	}
	across, up := axis{0, maxPrice, maxPrice / 4}, axis{maxPrice, 0, maxPrice / 4}
	p.XTicks, p.YTicks = across.ticks(wholePercent), up.ticks(wholePercent)
	most := int64(1)
	for _, b := range c.Bins {
		most = max(most, b.Calls)
	}
	height := func(bps int) string { return up.percent(float64(bps)) }
	for _, b := range c.Bins {
		if b.Calls > 0 {
			p.Bins = append(p.Bins, binMark{
				Bin: b, X: across.percent(float64(b.ConfidenceBps)), Y: height(b.HitBps), Top: height(b.HighBps),
				Bottom: height(b.LowBps),
				R:      lengthAttr(minDotRadius + dotRadiusRange*math.Sqrt(float64(b.Calls)/float64(most))),
			})
		}
	}
	p.Label = "Calibration plot with " + format.CountOf(int64(len(p.Bins)), "group") + " of calls; the table below has the numbers"
	return p
}

// brier formats a Brier score, given in bps, as a number from 0 to 1 with three decimals.
func brier(bps int) string { return strconv.FormatFloat(float64(bps)/maxPrice, 'f', 3, 64) }

func wholePercent(bps int) string { return format.Digits(int64((bps+50)/100)) + "%" }
