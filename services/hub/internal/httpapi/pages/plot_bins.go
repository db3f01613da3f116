package pages

import (
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
)

// calibrationPlot is what somebody said beside what came: a dot for each bin of
// confidence, with a line between what the true share lies.
type calibrationPlot struct {
	Bins   []binMark
	Ticks  []chartTick // across, in percent of confidence
	Rows   []chartTick // up, in percent of wins
	Calls  string
	Plain  string
	Own    string // Brier scores
	Market string
	Label  string
}

// binMark is a bin with its place in percent.
type binMark struct {
	skill.Bin
	X, Y, Top, Bottom string
	R                 string
}

// Radii of dots, by the share of calls.
const (
	leastDot = 4
	moreDot  = 5
)

// calibrationOf draws it; nil where no confidence was stated.
func calibrationOf(c *skill.Calibration) *calibrationPlot {
	if c == nil || c.Calls == 0 {
		return nil
	}
	p := &calibrationPlot{
		Calls: many(c.Calls, "decided call"), Own: brier(c.BrierBps), Market: brier(c.MarketBrierBps),
		Plain: "Stated confidence was no more accurate than the market price.",
	}
	if c.BrierBps < c.MarketBrierBps {
		p.Plain = "Stated confidence was more accurate than the market price."
	}
	across, up := axis{0, wholePrice, wholePrice / 4}, axis{wholePrice, 0, wholePrice / 4}
	p.Ticks, p.Rows = across.ticks(wholePercent), up.ticks(wholePercent)
	most := int64(1)
	for _, b := range c.Bins {
		most = max(most, b.Calls)
	}
	height := func(bps int) string { return up.percent(float64(bps)) }
	for _, b := range c.Bins {
		if b.Calls > 0 {
			p.Bins = append(p.Bins, binMark{
				Bin: b, X: across.percent(float64(b.ConfidenceBps)), Y: height(b.HitBps), Top: height(b.HighBps), Bottom: height(b.LowBps),
				R: short(leastDot + moreDot*math.Sqrt(float64(b.Calls)/float64(most))),
			})
		}
	}
	p.Label = "Calibration plot with " + many(int64(len(p.Bins)), "group") + " of calls; the table below has the numbers"
	return p
}

// brier writes a Brier score as people know it, 0 to 1.
func brier(bps int) string { return strconv.FormatFloat(float64(bps)/wholePrice, 'f', 3, 64) }

func wholePercent(bps int) string { return digits(int64((bps+50)/100)) + "%" }
